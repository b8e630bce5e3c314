% The same solver in GNU Octave, as a program (docs/program_protocol.md):
%   octave-cli --quiet --no-init-file jacobi.m REQUEST.json    answers one request
%   octave-cli --quiet --no-init-file jacobi.m -               one a line until its input ends
1;

function reply = describe()
  option = struct("name", "relaxation", "type", "real", "default", 0.2, "minimum", 0, "maximum", 2, ...
                  "doc", "omega: share of the full step that is taken");
  reply = struct("id", "JACOBI-OCTAVE", "name", "Projected Jacobi in Octave", "version", 1, "serve", true, ...
                 "formulation", "NCP", "joints", false, "compliance", false, "two_dimensional", true);
  reply.options = {option};
end

% A matrix of FCLIB with compressed rows (nz = -2) or columns (-1).
function matrix = stored(group)
  p = double(group.p(:));
  outer = repelem((1:numel(p) - 1)', diff(p));
  inner = double(group.i(1:p(end)))(:) + 1;
  x = group.x(1:p(end))(:);
  m = double(group.m); n = double(group.n);
  if group.nz == -2
    matrix = sparse(outer, inner, x, m, n);
  else
    matrix = sparse(inner, outer, x, m, n);
  end
end

% Each column (normal; tangents) onto |r_T| <= mu r_N.
function r = project(r, mu)
  normal = r(1, :);
  tangential = sqrt(sum(r(2:end, :) .^ 2, 1));
  onto = (mu .* tangential + normal) ./ (1 + mu .^ 2);
  below = mu .* tangential <= -normal;
  moved = ! below & tangential > mu .* normal;
  r(2:end, moved) .*= mu(moved) .* onto(moved) ./ tangential(moved);
  r(1, moved) = onto(moved);
  r(:, below) = 0;
end

% float64, one dimension.
function write_npy(file, values)
  header = sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", numel(values));
  header = [header, repmat(" ", 1, 64 - mod(numel(header) + 11, 64)), "\n"];
  out = fopen(file, "w");
  fwrite(out, [147, double("NUMPY"), 1, 0], "uint8");
  fwrite(out, numel(header), "uint16", 0, "ieee-le");
  fwrite(out, header, "char");
  fwrite(out, values, "double", 0, "ieee-le");
  fclose(out);
end

function reply = solve(request)
  started = tic;
  local = load("-hdf5", request.problem, "fclib_local").fclib_local;
  began = tic;
  size = double(local.spacedim);
  w = stored(local.W);
  q = local.vectors.q(:);
  mu = local.vectors.mu(:)';
  trace = sum(reshape(full(diag(w)), size, []), 1);
  step = zeros(1, numel(mu));
  step(trace > 0) = request.options.relaxation * size ./ trace(trace > 0);
  r = zeros(size, numel(mu));
  setup_s = toc(began);
  began = tic;
  status = "max_iterations";
  for k = 1:request.max_iterations
    u = reshape(w * r(:) + q, size, []);
    u(1, :) += mu .* sqrt(sum(u(2:end, :) .^ 2, 1));
    new = project(r - step .* u, mu);
    moved = max(abs(new - r)(:));
    r = new;
    if ! isfinite(moved)
      status = "diverged";
      break
    elseif moved <= request.tolerance
      status = "converged";
      break
    elseif toc(started) > request.time_limit_s
      status = "time_limit";
      break
    end
  end
  solve_s = toc(began);
  write_npy([request.answer, ".npy"], r(:));
  reply = struct("status", status, "iterations", k, "setup_s", setup_s, "solve_s", solve_s);
  if isfinite(moved)
    reply.own_residual = moved;
  end
end

function reply = answer(request)
  if strcmp(request.request, "describe")
    reply = describe();
  else
    reply = solve(request);
  end
end

from = argv(){end};
if strcmp(from, "-")
  % fgetl would wait for the first byte of the next line. At the end of its input `input` fails.
  while true
    try
      line = input("", "s");
    catch
      exit(0);
    end
    request = jsondecode(line);
    reply = answer(request);
    reply.number = request.number;
    printf("%s\n", jsonencode(reply));
    fflush(stdout);
  end
else
  request = jsondecode(fileread(from));
  out = fopen(request.reply, "w");
  fprintf(out, "%s\n", jsonencode(answer(request)));
  fclose(out);
end
