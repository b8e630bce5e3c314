#include <array>

#include "store/schema.hpp"

namespace conebench {

namespace {

constexpr const char* version_1 = R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  suite_name TEXT NOT NULL,
  suite_text TEXT NOT NULL,
  seed INTEGER NOT NULL,
  started_utc TEXT NOT NULL,
  finished_utc TEXT NOT NULL,
  mode TEXT NOT NULL,
  jobs INTEGER NOT NULL,
  machine_host TEXT NOT NULL,
  machine_cpu TEXT NOT NULL,
  machine_cores INTEGER NOT NULL,
  machine_memory_mb INTEGER NOT NULL,
  machine_kernel TEXT NOT NULL,
  machine_governor TEXT NOT NULL,
  build_version TEXT NOT NULL,
  build_commit TEXT NOT NULL,
  build_compiler TEXT NOT NULL,
  build_flags TEXT NOT NULL,
  build_type TEXT NOT NULL,
  build_native INTEGER NOT NULL,
  build_libraries TEXT NOT NULL,
  load_before REAL,
  load_after REAL,
  steal_share REAL,
  noise TEXT NOT NULL
) STRICT;
CREATE TABLE problems (
  hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  family TEXT NOT NULL,
  source TEXT NOT NULL,
  kind TEXT NOT NULL,
  space_dimension INTEGER NOT NULL,
  contacts INTEGER NOT NULL,
  joints INTEGER NOT NULL,
  limits INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  nonzeros INTEGER NOT NULL,
  mu_min REAL,
  mu_max REAL,
  symmetry_error REAL,
  rank INTEGER,
  conditioning REAL,
  features_estimated INTEGER NOT NULL,
  category TEXT NOT NULL,
  trivial INTEGER NOT NULL,
  duplicate_of TEXT NOT NULL,
  error TEXT NOT NULL
) STRICT;
CREATE TABLE settings (
  hash TEXT PRIMARY KEY,
  solver TEXT NOT NULL,
  solver_version INTEGER NOT NULL,
  formulation TEXT NOT NULL,
  label TEXT NOT NULL,
  options TEXT NOT NULL
) STRICT;
CREATE TABLE cells (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  problem TEXT NOT NULL REFERENCES problems(hash),
  setting TEXT NOT NULL REFERENCES settings(hash),
  tolerance REAL NOT NULL,
  criterion TEXT NOT NULL,
  verdict TEXT NOT NULL,
  start TEXT NOT NULL,
  max_iterations INTEGER NOT NULL,
  limit_s REAL,
  limit_mb INTEGER NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  claimed INTEGER NOT NULL,
  solved INTEGER NOT NULL,
  verdict_value REAL,
  verdict_symmetrised REAL,
  open INTEGER NOT NULL,
  stick INTEGER NOT NULL,
  slip INTEGER NOT NULL,
  own_residual REAL,
  own_residual_known INTEGER NOT NULL,
  solved_symmetrised INTEGER NOT NULL,
  iterations INTEGER NOT NULL,
  factorizations INTEGER NOT NULL,
  operator_products INTEGER NOT NULL,
  setup_cold_s REAL,
  setup_minimum_s REAL,
  setup_median_s REAL,
  setup_deviation_s REAL,
  solve_cold_s REAL,
  solve_minimum_s REAL,
  solve_median_s REAL,
  solve_deviation_s REAL,
  total_cold_s REAL,
  total_minimum_s REAL,
  total_median_s REAL,
  total_deviation_s REAL,
  repeats INTEGER NOT NULL,
  judge_s REAL,
  peak_memory_kb INTEGER NOT NULL
) STRICT;
CREATE TABLE residuals (
  cell INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value REAL,
  missing TEXT NOT NULL,
  worst_block INTEGER NOT NULL,
  PRIMARY KEY (cell, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE reactions (
  cell INTEGER PRIMARY KEY REFERENCES cells(id) ON DELETE CASCADE,
  length INTEGER NOT NULL,
  crc32 INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE TABLE traces (
  cell INTEGER PRIMARY KEY REFERENCES cells(id) ON DELETE CASCADE,
  length INTEGER NOT NULL,
  crc32 INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE VIEW results AS
  SELECT problems.family, problems.name AS problem, settings.label AS solver, tolerance, status, reason, claimed, solved,
         verdict, verdict_value, iterations, factorizations, operator_products, setup_median_s, solve_median_s,
         total_median_s
  FROM cells JOIN problems ON problems.hash = cells.problem JOIN settings ON settings.hash = cells.setting;
)sql";

/// λ = 0 is judged slice by slice; the folders that relative paths of the suite start from; copies are counted.
constexpr const char* version_2 = R"sql(
ALTER TABLE runs ADD COLUMN suite_folder TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN data_folder TEXT NOT NULL DEFAULT '';
ALTER TABLE problems ADD COLUMN zero_impulse TEXT NOT NULL DEFAULT '{}';
ALTER TABLE problems ADD COLUMN copies TEXT NOT NULL DEFAULT '[]';
UPDATE problems SET zero_impulse = '{"natural_map_scaled":0.0}' WHERE trivial = 1;
ALTER TABLE problems DROP COLUMN trivial;
)sql";

/// The compliance that a solver added, and the verdict of the problem with it.
constexpr const char* version_3 = R"sql(
ALTER TABLE cells ADD COLUMN compliance_share REAL DEFAULT 0;
ALTER TABLE cells ADD COLUMN verdict_compliant REAL;
ALTER TABLE cells ADD COLUMN ccp_compliant REAL;
)sql";

/// What each run's suite asked for, so that cells of an edited suite are known.
constexpr const char* version_4 = R"sql(
ALTER TABLE runs ADD COLUMN scope TEXT NOT NULL DEFAULT '';
)sql";

/// How many passes of the sweep timed a cell.
constexpr const char* version_5 = R"sql(
ALTER TABLE cells ADD COLUMN rounds INTEGER NOT NULL DEFAULT 1;
)sql";

/// Which executable ran; the times of every round; checksums of rows (row_checksum.hpp) and, kept by triggers, how many
/// rows there are and the sum of their checksums, so that damage is noticed by whoever reads.
constexpr const char* version_6 = R"sql(
ALTER TABLE runs ADD COLUMN build_executable TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN side TEXT NOT NULL DEFAULT '';
CREATE TABLE rounds (
  cell INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE,
  round INTEGER NOT NULL,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  minimum_s REAL,
  median_s REAL,
  cpu_share REAL,
  switches INTEGER,
  PRIMARY KEY (cell, round)
) STRICT, WITHOUT ROWID;
ALTER TABLE runs ADD COLUMN checksum INTEGER;
ALTER TABLE problems ADD COLUMN checksum INTEGER;
ALTER TABLE settings ADD COLUMN checksum INTEGER;
ALTER TABLE cells ADD COLUMN checksum INTEGER;
ALTER TABLE cells ADD COLUMN residual_checksum INTEGER;
CREATE TABLE seals (part TEXT PRIMARY KEY, count INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO seals SELECT 'runs', count(*), 0 FROM runs;
INSERT INTO seals SELECT 'problems', count(*), 0 FROM problems;
INSERT INTO seals SELECT 'settings', count(*), 0 FROM settings;
INSERT INTO seals SELECT 'cells', count(*), 0 FROM cells;
INSERT INTO seals SELECT 'traces', count(*), coalesce(sum(crc32 + cell), 0) FROM traces;
CREATE TRIGGER runs_added AFTER INSERT ON runs BEGIN
  UPDATE seals SET count = count + 1, sum = sum + coalesce(NEW.checksum, 0) WHERE part = 'runs';
END;
CREATE TRIGGER runs_removed AFTER DELETE ON runs BEGIN
  UPDATE seals SET count = count - 1, sum = sum - coalesce(OLD.checksum, 0) WHERE part = 'runs';
END;
CREATE TRIGGER runs_changed AFTER UPDATE OF checksum ON runs BEGIN
  UPDATE seals SET sum = sum + coalesce(NEW.checksum, 0) - coalesce(OLD.checksum, 0) WHERE part = 'runs';
END;
CREATE TRIGGER problems_added AFTER INSERT ON problems BEGIN
  UPDATE seals SET count = count + 1, sum = sum + coalesce(NEW.checksum, 0) WHERE part = 'problems';
END;
CREATE TRIGGER problems_removed AFTER DELETE ON problems BEGIN
  UPDATE seals SET count = count - 1, sum = sum - coalesce(OLD.checksum, 0) WHERE part = 'problems';
END;
CREATE TRIGGER problems_changed AFTER UPDATE OF checksum ON problems BEGIN
  UPDATE seals SET sum = sum + coalesce(NEW.checksum, 0) - coalesce(OLD.checksum, 0) WHERE part = 'problems';
END;
CREATE TRIGGER settings_added AFTER INSERT ON settings BEGIN
  UPDATE seals SET count = count + 1, sum = sum + coalesce(NEW.checksum, 0) WHERE part = 'settings';
END;
CREATE TRIGGER settings_removed AFTER DELETE ON settings BEGIN
  UPDATE seals SET count = count - 1, sum = sum - coalesce(OLD.checksum, 0) WHERE part = 'settings';
END;
CREATE TRIGGER settings_changed AFTER UPDATE OF checksum ON settings BEGIN
  UPDATE seals SET sum = sum + coalesce(NEW.checksum, 0) - coalesce(OLD.checksum, 0) WHERE part = 'settings';
END;
CREATE TRIGGER cells_added AFTER INSERT ON cells BEGIN
  UPDATE seals SET count = count + 1, sum = sum + coalesce(NEW.checksum, 0) WHERE part = 'cells';
END;
CREATE TRIGGER cells_removed AFTER DELETE ON cells BEGIN
  UPDATE seals SET count = count - 1, sum = sum - coalesce(OLD.checksum, 0) WHERE part = 'cells';
END;
CREATE TRIGGER cells_changed AFTER UPDATE OF checksum ON cells BEGIN
  UPDATE seals SET sum = sum + coalesce(NEW.checksum, 0) - coalesce(OLD.checksum, 0) WHERE part = 'cells';
END;
CREATE TRIGGER traces_added AFTER INSERT ON traces BEGIN
  UPDATE seals SET count = count + 1, sum = sum + NEW.crc32 + NEW.cell WHERE part = 'traces';
END;
CREATE TRIGGER traces_removed AFTER DELETE ON traces BEGIN
  UPDATE seals SET count = count - 1, sum = sum - OLD.crc32 - OLD.cell WHERE part = 'traces';
END;
)sql";

/// Problems given as (M, J, v_free): their other name, what making G of them costs, and what of a problem a cell used.
constexpr const char* version_7 = R"sql(
ALTER TABLE problems ADD COLUMN given TEXT NOT NULL DEFAULT '';
ALTER TABLE problems ADD COLUMN alias TEXT NOT NULL DEFAULT '';
ALTER TABLE problems ADD COLUMN factor_s REAL;
ALTER TABLE problems ADD COLUMN assemble_s REAL;
ALTER TABLE problems ADD COLUMN diagonal_s REAL;
ALTER TABLE cells ADD COLUMN used TEXT NOT NULL DEFAULT '';
ALTER TABLE cells ADD COLUMN condensation_s REAL;
)sql";

/// Which of a solver's stages solved a cell.
constexpr const char* version_8 = R"sql(
ALTER TABLE cells ADD COLUMN stage TEXT NOT NULL DEFAULT '';
)sql";

/// Which version of a named data set a run saw; both clocks of a solver in a process of its own.
constexpr const char* version_9 = R"sql(
ALTER TABLE runs ADD COLUMN data_sets TEXT NOT NULL DEFAULT '{}';
ALTER TABLE cells ADD COLUMN wall_s REAL;
ALTER TABLE cells ADD COLUMN own_setup_s REAL;
ALTER TABLE cells ADD COLUMN own_solve_s REAL;
)sql";

/// Problems that no solver can solve, or whose data is rounding; whose solvers a setting's is; why times are doubted;
/// alarms that somebody accepted; the name of the file's state, which every write replaces: see check_log.
constexpr const char* version_10 = R"sql(
ALTER TABLE problems ADD COLUMN feasibility TEXT NOT NULL DEFAULT '';
ALTER TABLE problems ADD COLUMN feasibility_margin REAL;
ALTER TABLE problems ADD COLUMN infeasible_block INTEGER;
ALTER TABLE problems ADD COLUMN noise_ratio REAL;
ALTER TABLE settings ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE settings ADD COLUMN peer_version TEXT NOT NULL DEFAULT '';
ALTER TABLE settings ADD COLUMN peer_released TEXT NOT NULL DEFAULT '';
ALTER TABLE settings ADD COLUMN peer_build TEXT NOT NULL DEFAULT '';
ALTER TABLE settings ADD COLUMN looks TEXT NOT NULL DEFAULT '';
ALTER TABLE cells ADD COLUMN doubts TEXT NOT NULL DEFAULT '[]';
CREATE TABLE acceptances (
  id INTEGER PRIMARY KEY,
  alarm TEXT NOT NULL,
  who TEXT NOT NULL,
  why TEXT NOT NULL,
  accepted_utc TEXT NOT NULL
) STRICT;
CREATE TABLE file_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  current BLOB NOT NULL,
  previous BLOB NOT NULL
) STRICT;
INSERT INTO file_state VALUES (1, randomblob(16), randomblob(16));
)sql";

/// What a problem without a solution is certified by; what an accepted alarm was.
constexpr const char* version_11 = R"sql(
ALTER TABLE problems ADD COLUMN certificate BLOB;
ALTER TABLE acceptances ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
)sql";

/// How good an answer to a problem without a solution can be; by which judge a cell's answer was judged. Facts that
/// older stores have in a sentence or a label alone: why times are doubtful (without what they took for signs and are
/// none), which options differ from the defaults, what a cell started from.
constexpr const char* version_12 = R"sql(
ALTER TABLE problems ADD COLUMN verdict_bound REAL;
ALTER TABLE cells ADD COLUMN verdict_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE settings ADD COLUMN changed_options TEXT NOT NULL DEFAULT '[]';
ALTER TABLE cells ADD COLUMN start_used TEXT NOT NULL DEFAULT '';
UPDATE runs SET noise = (
  SELECT json_group_array(json(CASE
    WHEN value LIKE 'the hypervisor took %' THEN
      json_object('kind', 'stolen', 'value', 0.01 * CAST(substr(value, 21) AS REAL), 'text', '')
    WHEN value LIKE 'throttled % times because of heat' THEN
      json_object('kind', 'throttled', 'value', CAST(substr(value, 11) AS REAL), 'text', '')
    WHEN value LIKE '% workers ran side by side' THEN
      json_object('kind', 'workers', 'value', CAST(value AS REAL), 'text', '')
    WHEN value LIKE 'joined from stores of %' THEN
      json_object('kind', 'joined', 'value', 0.0, 'text', substr(value, 23))
    ELSE json_object('kind', 'other', 'value', 0.0, 'text', value) END))
  FROM json_each(noise) WHERE value NOT LIKE 'busy before the start%' AND value NOT LIKE 'busy meanwhile%'
    AND value NOT LIKE '%of the repeated cells scatter%')
  WHERE json_valid(noise);
UPDATE settings SET changed_options = (
  SELECT json_group_array(key) FROM json_each(options) WHERE instr(label, ' ' || key || '=') > 0)
  WHERE json_valid(options);
UPDATE cells SET start_used = CASE
  WHEN start = 'previous' AND instr(reason, 'started cold') > 0 THEN 'cold' ELSE start END;
)sql";

constexpr std::array steps_of_this_build = {version_1, version_2, version_3, version_4,  version_5,  version_6,
                                            version_7, version_8, version_9, version_10, version_11, version_12};

}  // namespace

std::span<const char* const> schema_steps() { return steps_of_this_build; }

}  // namespace conebench
