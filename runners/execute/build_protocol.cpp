#include "runners/execute/build_protocol.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "store/json.hpp"
#include "store/record_fields.hpp"

namespace conebench {

namespace {

using nlohmann::json;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Fills a record from the object that store/json.hpp makes of it. Throws json::exception for another type.
class ObjectReader {
 public:
  explicit ObjectReader(const json& object) : object_(object) {}
  template <class T>
  void operator()(const char* name, T& value) {
    if (const json* found = find(name)) found->get_to(value);
  }
  void operator()(const char* name, double& value) {
    if (object_.contains(name)) value = number(object_.at(name));
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    if (const json* found = find(name)) value = found->get<T>();
  }
  void json_text(const char* name, std::string& text) {
    if (const json* found = find(name)) text = found->dump();
  }
  template <class Fields>
  void group(const char* name, Fields fields) {
    if (const json* found = find(name)) {
      ObjectReader inner(*found);
      fields(inner);
    }
  }
  static double number(const json& value) { return value.is_null() ? not_a_number : value.get<double>(); }

 private:
  const json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  const json& object_;
};

CellRecord cell_of(const json& object) {
  CellRecord cell;
  ObjectReader reader(object);
  visit_cell(reader, cell);
  const json residuals = object.value("residuals", json::object());  // items() refers to it
  for (const auto& [name, residual] : residuals.items()) {
    ObjectReader inner(residual);
    ResidualRecord record;
    visit_residual(inner, record);
    cell.residuals.set(name, record);
  }
  for (const json& round : object.value("timed_rounds", json::array())) {
    ObjectReader inner(round);
    visit_round(inner, cell.timed_rounds.emplace_back());
  }
  for (const json& value : object.value("reaction", json::array())) {
    cell.reaction.push_back(ObjectReader::number(value));
  }
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
  if (source.place) object["place"] = {{"sequence", source.place->sequence}, {"step", source.place->step}};
  return object;
}

ProblemSource source_of(const json& object) {
  ProblemSource source;
  source.name = object.value("name", "");
  source.family = object.value("family", "");
  source.source = object.value("source", "");
  source.file = object.value("file", "");
  source.scene = object.value("scene", "");
  source.options = options_of(object.value("options", json::object()));
  source.seed = object.value("seed", source.seed);
  source.as_fclib = object.value("as_fclib", false);
  if (object.contains("place")) {
    source.place.emplace();
    object.at("place").at("sequence").get_to(source.place->sequence);
    object.at("place").at("step").get_to(source.place->step);
  }
  return source;
}

json request_json(const CellRequest& request) {
  return {{"solver", request.solver},
          {"options", options_json(request.options)},
          {"tolerance", request.tolerance},
          {"max_iterations", request.max_iterations},
          {"seconds", request.seconds},
          {"criterion", to_string(request.criterion)},
          {"verdict", request.verdict},
          {"start", to_string(request.start)},
          {"repeats",
           {{"min", request.repeats.minimum},
            {"min_ms", request.repeats.minimum_ms},
            {"max", request.repeats.maximum},
            {"least_probe_s", request.repeats.min_probe_s},
            {"probe", request.repeats.probe}}}};
}

/// A word that this build does not know is refused: it would solve something else.
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
    throw json::other_error::create(501, "unknown " + word, nullptr);
  };
  pick("criterion", std::initializer_list<Criterion>{Criterion::own, Criterion::verdict, Criterion::verdict_paid},
       request.criterion);
  pick("start", std::initializer_list<Start>{Start::cold, Start::guess}, request.start);
  const json& repeats = object.at("repeats");
  repeats.at("min").get_to(request.repeats.minimum);
  repeats.at("min_ms").get_to(request.repeats.minimum_ms);
  repeats.at("max").get_to(request.repeats.maximum);
  request.repeats.min_probe_s = repeats.value("least_probe_s", 0.0);
  request.repeats.probe = repeats.value("probe", true);
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

OptionValues options_from_json(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  return object.is_object() ? options_of(object) : OptionValues();
}

std::string encode(const BuildGreeting& greeting) {
  RunRecord run;  // the object of a run has its build's
  run.build = greeting.build;
  return pack({{"protocol", greeting.protocol}, {"build", to_json(run).at("build")}, {"probes", greeting.probes}});
}

std::optional<BuildGreeting> decode_build_greeting(std::string_view bytes) {
  return unpack<BuildGreeting>(bytes, [](const json& object) {
    BuildGreeting greeting;
    object.at("protocol").get_to(greeting.protocol);
    ObjectReader reader(object.at("build"));
    visit_build(reader, greeting.build);
    greeting.probes = object.value("probes", false);
    return greeting;
  });
}

std::string encode(const BuildOrder& order) {
  json object = {{"problem", source_json(order.source)}, {"cache", order.cache.string()},
                 {"problem_hash", order.problem_hash},   {"request", request_json(order.request)},
                 {"memory_mb", order.memory_mb},         {"pinned_processor", order.pinned_processor},
                 {"solution", order.solution.string()}};
  if (order.answered) object["answered"] = to_json(*order.answered);
  return pack(object);
}

std::optional<BuildOrder> decode_build_order(std::string_view bytes) {
  return unpack<BuildOrder>(bytes, [](const json& object) {
    BuildOrder order;
    order.source = source_of(object.at("problem"));
    order.cache = object.value("cache", "");
    object.at("problem_hash").get_to(order.problem_hash);
    order.request = request_of(object.at("request"));
    order.memory_mb = object.value("memory_mb", order.memory_mb);
    order.pinned_processor = object.value("pinned_processor", -1);
    order.solution = object.value("solution", "");
    if (object.contains("answered")) order.answered = cell_of(object.at("answered"));
    return order;
  });
}

std::string encode(const BuildReply& reply) {
  json object = {{"cell", to_json(reply.record)}, {"least_probe_s", reply.min_probe_s}};
  if (reply.setting) object["setting"] = to_json(*reply.setting);
  if (reply.error) object["error"] = {{"code", static_cast<int>(reply.error->code)}, {"message", reply.error->message}};
  return pack(object);
}

std::optional<BuildReply> decode_build_reply(std::string_view bytes) {
  return unpack<BuildReply>(bytes, [](const json& object) {
    BuildReply reply;
    reply.record = cell_of(object.at("cell"));
    reply.min_probe_s = object.value("least_probe_s", 0.0);
    if (object.contains("setting")) {
      ObjectReader reader(object.at("setting"));
      visit_setting(reader, reply.setting.emplace());
    }
    if (object.contains("error")) {
      const json& error = object.at("error");
      reply.error = Error{static_cast<ErrorCode>(error.at("code").get<int>()), error.at("message").get<std::string>()};
    }
    return reply;
  });
}

}  // namespace conebench
