#include "runners/execute/build_protocol.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "store/json.hpp"
#include "store/json_fields.hpp"

namespace conebench {

namespace {

using nlohmann::json;

/// A field that the object lacks keeps its default. Throws json::exception for another type.
template <class Record>
Record read_record(const json& object) {
  Record record;
  json whole = json_of(record);
  whole.update(object, true);
  JsonReader reader(whole);
  Record::fields(reader, record);
  return record;
}

CellRecord cell_of(const json& object) {
  CellRecord cell = read_record<CellRecord>(object);
  for (const auto& [name, residual] : object.at("residuals").items()) {
    cell.residuals.set(name, read_record<ResidualRecord>(residual));
  }
  for (const json& round : object.at("timed_rounds")) cell.timed_rounds.push_back(read_record<RoundRecord>(round));
  const json reaction = object.value("reaction", json::array());  // only where there is an answer
  for (const json& value : reaction) cell.reaction.push_back(value.is_null() ? std::nan("") : value.get<double>());
  return cell;
}

json options_json(const OptionValues& options) {
  json object = json::object();
  for (const auto& [name, value] : options) {
    std::visit([&object, &name = name](const auto& held) { object[name] = held; }, value);
  }
  return object;
}

OptionValues options_of(const json& object) {
  OptionValues options;
  for (const auto& [name, value] : object.items()) {
    if (value.is_boolean()) {
      options[name] = value.get<bool>();
    } else if (value.is_number_integer()) {
      options[name] = value.get<long>();
    } else if (value.is_number()) {
      options[name] = value.get<double>();
    } else {
      options[name] = value.get<std::string>();
    }
  }
  return options;
}

json source_json(const ProblemSource& source) {
  json object = {{"name", source.name},     {"family", source.family},
                 {"source", source.source}, {"file", source.file.string()},
                 {"scene", source.scene},   {"options", options_json(source.options)},
                 {"seed", source.seed},     {"as_fclib", source.as_fclib}};
  if (source.position) object["position"] = {{"sequence", source.position->sequence}, {"step", source.position->step}};
  for (const ProblemSource& member : source.members) object["members"].push_back(source_json(member));
  return object;
}

ProblemSource source_of(const json& object) {
  ProblemSource source;
  object.at("name").get_to(source.name);
  object.at("family").get_to(source.family);
  object.at("source").get_to(source.source);
  source.file = object.at("file").get<std::string>();
  object.at("scene").get_to(source.scene);
  source.options = options_of(object.at("options"));
  object.at("seed").get_to(source.seed);
  object.at("as_fclib").get_to(source.as_fclib);
  if (object.contains("position")) {
    source.position.emplace();
    object.at("position").at("sequence").get_to(source.position->sequence);
    object.at("position").at("step").get_to(source.position->step);
  }
  for (const json& member : object.value("members", json::array())) source.members.push_back(source_of(member));
  return source;
}

json request_json(const CellRequest& request) {
  return {{"solver", request.solver},
          {"options", options_json(request.options)},
          {"tolerance", request.tolerance},
          {"max_iterations", request.max_iterations},
          {"seconds", request.seconds},
          {"stop_by", to_string(request.stop_by)},
          {"verdict", request.verdict},
          {"start", to_string(request.start)},
          {"repeats",
           {{"min", request.repeats.minimum},
            {"min_ms", request.repeats.minimum_ms},
            {"max", request.repeats.maximum},
            {"min_probe_s", request.repeats.min_probe_s}}}};
}

/// An unknown value is refused: this build would solve something else.
CellRequest request_of(const json& object) {
  CellRequest request;
  object.at("solver").get_to(request.solver);
  request.options = options_of(object.at("options"));
  object.at("tolerance").get_to(request.tolerance);
  object.at("max_iterations").get_to(request.max_iterations);
  object.at("seconds").get_to(request.seconds);
  object.at("verdict").get_to(request.verdict);
  const auto pick = [&object](const char* key, const auto& values, auto& into) {
    const auto word = object.at(key).get<std::string>();
    for (const auto value : values) {
      if (to_string(value) != word) continue;
      into = value;
      return;
    }
    throw json::other_error::create(501, fmt::format("{}: unknown value '{}'", key, word), nullptr);
  };
  pick("stop_by", std::initializer_list<StopBy>{StopBy::solver, StopBy::judge, StopBy::judge_timed}, request.stop_by);
  pick("start", std::initializer_list<Start>{Start::cold, Start::guess}, request.start);
  const json& repeats = object.at("repeats");
  repeats.at("min").get_to(request.repeats.minimum);
  repeats.at("min_ms").get_to(request.repeats.minimum_ms);
  repeats.at("max").get_to(request.repeats.maximum);
  repeats.at("min_probe_s").get_to(request.repeats.min_probe_s);
  return request;
}

std::string pack(const json& object) {
  std::string bytes;
  json::to_cbor(object, bytes);
  return bytes;
}

template <class Value, class Read>
std::optional<Value> unpack(std::string_view bytes, Read read) {
  const json object = json::from_cbor(bytes.begin(), bytes.end(), true, false);
  if (!object.is_object()) return std::nullopt;
  try {
    return read(object);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string encode(const BuildGreeting& greeting) {
  return pack({{"protocol", greeting.protocol}, {"build", json_of(greeting.build)}});
}

std::optional<BuildGreeting> decode_build_greeting(std::string_view bytes) {
  return unpack<BuildGreeting>(bytes, [](const json& object) {
    BuildGreeting greeting;
    object.at("protocol").get_to(greeting.protocol);
    greeting.build = read_record<BuildRecord>(object.at("build"));
    return greeting;
  });
}

std::string encode(const BuildOrder& order) {
  json object = {{"problem", source_json(order.source)}, {"cache", order.cache.string()},
                 {"problem_hash", order.problem_hash},   {"request", request_json(order.request)},
                 {"memory_mb", order.memory_mb},         {"pinned_processor", order.pinned_processor}};
  if (order.answered) object["answered"] = to_json(*order.answered);
  return pack(object);
}

std::optional<BuildOrder> decode_build_order(std::string_view bytes) {
  return unpack<BuildOrder>(bytes, [](const json& object) {
    BuildOrder order;
    order.source = source_of(object.at("problem"));
    order.cache = object.at("cache").get<std::string>();
    object.at("problem_hash").get_to(order.problem_hash);
    order.request = request_of(object.at("request"));
    object.at("memory_mb").get_to(order.memory_mb);
    object.at("pinned_processor").get_to(order.pinned_processor);
    if (object.contains("answered")) order.answered = cell_of(object.at("answered"));
    return order;
  });
}

std::string encode(const BuildReply& reply) {
  json object = {{"cell", to_json(reply.record)}, {"min_probe_s", reply.min_probe_s}};
  if (reply.configuration) object["configuration"] = to_json(*reply.configuration);
  if (reply.error) object["error"] = {{"code", static_cast<int>(reply.error->code)}, {"message", reply.error->message}};
  return pack(object);
}

std::optional<BuildReply> decode_build_reply(std::string_view bytes) {
  return unpack<BuildReply>(bytes, [](const json& object) {
    BuildReply reply;
    reply.record = cell_of(object.at("cell"));
    object.at("min_probe_s").get_to(reply.min_probe_s);
    if (object.contains("configuration")) {
      reply.configuration = read_record<ConfigurationRecord>(object.at("configuration"));
    }
    if (object.contains("error")) {
      const json& error = object.at("error");
      reply.error = Error{static_cast<ErrorCode>(error.at("code").get<int>()), error.at("message").get<std::string>()};
    }
    return reply;
  });
}

}  // namespace conebench
