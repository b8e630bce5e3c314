// A scene's film on a canvas: flat-shaded bodies from the side, seen from far away so that lengths keep their scale.
// Convex parts are drawn from back to front, two of them ordered by the plane that separates them best.

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const plus = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const unit = (a) => times(a, 1 / (Math.hypot(...a) || 1));

// A vector turned by a quaternion w, x, y, z.
function turned([w, x, y, z], v) {
  const u = [x, y, z];
  const t = times(cross(u, v), 2);
  return plus(plus(v, times(t, w)), cross(u, t));
}

function quaternionProduct([a, b, c, d], [w, x, y, z]) {
  return [
    a * w - b * x - c * y - d * z,
    a * x + b * w + c * z - d * y,
    a * y - b * z + c * w + d * x,
    a * z + b * y - c * x + d * w,
  ];
}

// Meshes in their part's frame: points, faces counter-clockwise from outside, and which faces are lighter, so that a
// turn of a round body shows.
function boxMesh([x, y, z]) {
  const points = [
    [-x, -y, -z],
    [x, -y, -z],
    [x, y, -z],
    [-x, y, -z],
    [-x, -y, z],
    [x, -y, z],
    [x, y, z],
    [-x, y, z],
  ];
  return {
    points,
    faces: [
      [3, 2, 1, 0],
      [4, 5, 6, 7],
      [0, 1, 5, 4],
      [2, 3, 7, 6],
      [1, 2, 6, 5],
      [3, 0, 4, 7],
    ],
  };
}

function cylinderMesh([radius, half]) {
  const sides = 24;
  const ring = (z) =>
    [...Array(sides).keys()].map((k) => [
      radius * Math.cos((2 * Math.PI * k) / sides),
      radius * Math.sin((2 * Math.PI * k) / sides),
      z,
    ]);
  const [down, up] = [ring(-half), ring(half)];
  const points = [...down, ...up, [0, 0, -half], [0, 0, half]];
  const faces = [];
  const light = [];
  for (let k = 0; k < sides; k += 1) {
    const next = (k + 1) % sides;
    faces.push([k, next, next + sides, k + sides], [sides * 2 + 1, k + sides, next + sides], [sides * 2, next, k]);
    for (let i = 0; i < 3; i += 1) light.push(Math.floor(k / 6) % 2 === 0);
  }
  return { points, faces, light, round: true };
}

function sphereMesh([radius]) {
  const [around, down] = [16, 8];
  const points = [];
  for (let i = 0; i <= down; i += 1) {
    for (let k = 0; k < around; k += 1) {
      const [a, b] = [(Math.PI * i) / down, (2 * Math.PI * k) / around];
      points.push([radius * Math.sin(a) * Math.cos(b), radius * Math.sin(a) * Math.sin(b), radius * Math.cos(a)]);
    }
  }
  const faces = [];
  const light = [];
  for (let i = 0; i < down; i += 1) {
    for (let k = 0; k < around; k += 1) {
      const next = (k + 1) % around;
      const [a, b, c, d] = [i * around + k, (i + 1) * around + k, (i + 1) * around + next, i * around + next];
      faces.push(i === 0 ? [a, b, c] : i === down - 1 ? [a, b, d] : [a, b, c, d]);
      light.push((Math.floor(k / 4) + Math.floor(i / 4)) % 2 === 0);
    }
  }
  return { points, faces, light, round: true, radius };
}

const meshes = { box: boxMesh, cylinder: cylinderMesh, sphere: sphereMesh };

function partsOf(film) {
  let moving = 0;
  return film.bodies
    .flatMap((body, number) => {
      const colour = body.pose ? 0 : moving++;
      return body.parts.map((part) => partOf(part, { body: number, fixed: Boolean(body.pose), colour }));
    })
    .filter(Boolean);
}

function partOf(part, more) {
  const mesh =
    part.shape === "half-space"
      ? { plane: true }
      : part.shape === "hull"
        ? { points: part.size, faces: part.faces ?? [] }
        : meshes[part.shape]?.(part.size);
  return mesh && { mesh, position: part.position ?? [0, 0, 0], rotation: part.rotation ?? [1, 0, 0, 0], ...more };
}

// Poses of all bodies at a time, between two frames on a straight line. A pose that is not known is null.
function posesAt(film, time) {
  const { times: at, poses } = film;
  let k = 0;
  while (k < at.length - 2 && at[k + 1] <= time) k += 1;
  const s = at.length > 1 ? Math.min(1, Math.max(0, (time - at[k]) / (at[k + 1] - at[k] || 1))) : 0;
  const next = poses[Math.min(k + 1, poses.length - 1)] ?? [];
  let moving = 0;
  return film.bodies.map((body) => {
    if (body.pose) return body.pose;
    const [a, b] = [poses[k]?.[moving], next[moving]];
    moving += 1;
    if (!a || !b) return s < 0.5 ? (a ?? null) : (b ?? null);
    const sign = a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6] < 0 ? -1 : 1;
    return a.map((value, i) => value + s * ((i < 3 ? 1 : sign) * b[i] - value));
  });
}

// A part in the world: points, and planes of its faces.
function placed(part, pose) {
  const length = Math.hypot(...pose.slice(3)) || 1;
  const body = pose.slice(3).map((value) => value / length);
  const rotation = quaternionProduct(body, part.rotation);
  const position = plus(pose.slice(0, 3), turned(body, part.position));
  if (part.mesh.plane)
    return {
      ...part,
      position,
      normal: turned(rotation, [0, 0, 1]),
      along: turned(rotation, [1, 0, 0]),
      across: turned(rotation, [0, 1, 0]),
    };
  const points = part.mesh.points.map((point) => plus(position, turned(rotation, point)));
  const planes = part.mesh.faces.map((face) => {
    const [a, b, c] = face.map((i) => points[i]);
    const normal = unit(cross(minus(b, a), minus(c, a)));
    return { normal, offset: dot(normal, a) };
  });
  return { ...part, position, points, planes };
}

// How far b lies outside the best of a's planes, and that plane's normal.
function separation(a, b) {
  let best = { by: -Infinity, normal: [0, 0, 1] };
  const planes = a.mesh.radius
    ? [unit(minus(b.position, a.position))].map((normal) => ({
        normal,
        offset: dot(normal, a.position) + a.mesh.radius,
      }))
    : a.planes;
  for (const { normal, offset } of planes) {
    const by = b.mesh.radius
      ? dot(normal, b.position) - b.mesh.radius - offset
      : Math.min(...b.points.map((point) => dot(normal, point))) - offset;
    if (by > best.by) best = { by, normal };
  }
  return best;
}

// Whether a hides parts of b (1), b of a (-1), or neither (0), seen along `eye`.
function inFront(a, b, eye) {
  if (a.screen[0] > b.screen[2] || b.screen[0] > a.screen[2] || a.screen[1] > b.screen[3] || b.screen[1] > a.screen[3])
    return 0;
  const [ab, ba] = [separation(a, b), separation(b, a)];
  return ab.by > ba.by ? (dot(ab.normal, eye) > 0 ? -1 : 1) : dot(ba.normal, eye) > 0 ? 1 : -1;
}

// From back to front. Parts that hide each other in a ring are broken at the farthest.
function ordered(parts, eye) {
  const behind = parts.map(() => 0); // parts that must be drawn before
  const after = parts.map(() => []);
  for (let a = 0; a < parts.length; a += 1) {
    for (let b = a + 1; b < parts.length; b += 1) {
      const side = inFront(parts[a], parts[b], eye);
      if (side === 0) continue;
      const [first, second] = side > 0 ? [b, a] : [a, b];
      after[first].push(second);
      behind[second] += 1;
    }
  }
  const left = new Set(parts.keys());
  const depth = parts.map((part) => dot(part.position, eye));
  const found = [];
  while (left.size > 0) {
    const free = [...left].filter((i) => behind[i] === 0);
    const next = (free.length > 0 ? free : [...left]).reduce((best, i) => (depth[i] < depth[best] ? i : best));
    left.delete(next);
    for (const i of after[next]) behind[i] -= 1;
    found.push(parts[next]);
  }
  return found;
}

function cameraOf(turn) {
  const [a, b] = turn;
  const eye = [Math.sin(a) * Math.cos(b), -Math.cos(a) * Math.cos(b), Math.sin(b)];
  const right = [Math.cos(a), Math.sin(a), 0];
  return { eye, right, up: cross(eye, right) };
}

// The bounds of what moves on the screen, and of fixed bodies that do not dwarf it.
function boundsOf(parts, film, camera, at) {
  const box = (wanted) => {
    const found = [Infinity, Infinity, -Infinity, -Infinity];
    for (const time of at) {
      const poses = posesAt(film, time);
      for (const part of parts) {
        if (part.mesh.plane || !wanted(part) || !poses[part.body]) continue;
        for (const point of placed(part, poses[part.body]).points) {
          const [x, y] = [dot(camera.right, point), dot(camera.up, point)];
          found[0] = Math.min(found[0], x);
          found[1] = Math.min(found[1], y);
          found[2] = Math.max(found[2], x);
          found[3] = Math.max(found[3], y);
        }
      }
    }
    return found;
  };
  const size = (one) => Math.max(one[2] - one[0], one[3] - one[1]);
  const moving = box((part) => !part.fixed);
  const all = box(() => true);
  if (moving[0] === Infinity) return all[0] === Infinity ? [-1, -1, 1, 1] : all;
  return size(all) <= 3 * size(moving) ? all : moving;
}

class FilmView {
  constructor(film) {
    this.film = film;
    this.parts = partsOf(film);
    [this.begin, this.end] = [film.times[0] ?? 0, film.times.at(-1) ?? 0];
    this.time = this.begin;
    this.turn = [0.45, 0.3];
    this.playing = false;
    this.speed = 1;
    this.canvas = el("canvas", {
      tabindex: 0,
      role: "img",
      "aria-label": `Film of the scene: ${film.bodies
        .map((body) => body.name)
        .slice(0, 12)
        .join(", ")}. Arrow keys turn it.`,
    });
    this.slider = el("input", {
      type: "range",
      min: this.begin,
      max: this.end,
      step: "any",
      value: this.begin,
      "aria-label": "Time",
      oninput: () => {
        this.pause();
        this.show(Number(this.slider.value));
      },
    });
    this.button = el(
      "button",
      { type: "button", class: "play", onclick: () => (this.playing ? this.pause() : this.play()) },
      "Play",
    );
    this.clock = el("output", {});
    const speeds = el(
      "select",
      {
        "aria-label": "Speed",
        onchange: (event) => {
          this.speed = Number(event.target.value);
        },
      },
      [0.1, 0.25, 1, 4].map((value) => el("option", { value, selected: value === 1 }, `${value}×`)),
    );
    const many = film.times.length > 1;
    this.box = el(
      "div",
      { class: "film" },
      this.canvas,
      many ? el("div", { class: "player" }, this.button, this.slider, this.clock, speeds) : null,
    );
    this.turning();
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(this.canvas);
  }

  turning() {
    let from = null;
    const turnBy = (a, b) => {
      this.turn = [this.turn[0] + a, Math.min(1.5, Math.max(0.02, this.turn[1] + b))];
      this.fit = null;
      this.draw();
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      from = [event.clientX, event.clientY];
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      turnBy((from[0] - event.clientX) / 150, (event.clientY - from[1]) / 150);
      from = [event.clientX, event.clientY];
    });
    for (const name of ["pointerup", "pointercancel"])
      this.canvas.addEventListener(name, () => {
        from = null;
      });
    this.canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      turnBy(...step);
    });
  }

  play() {
    if (this.time >= this.end) this.time = this.begin;
    this.playing = true;
    this.button.textContent = "Pause";
    let last = null;
    const step = (now) => {
      if (!this.playing || !this.canvas.isConnected) return;
      this.show(Math.min(this.end, this.time + (last === null ? 0 : (this.speed * (now - last)) / 1000)));
      last = now;
      if (this.time >= this.end) this.pause();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  pause() {
    this.playing = false;
    this.button.textContent = "Play";
  }

  stop() {
    this.pause();
    this.sizes.disconnect();
  }

  show(time) {
    this.time = time;
    this.slider.value = time;
    this.draw();
  }

  // Scale and centre; a scene that goes far beyond its own size is followed.
  fitted(camera, width, height) {
    if (!this.fit || this.fit.width !== width) {
      const some = [...Array(25).keys()].map((k) => this.begin + ((this.end - this.begin) * k) / 24);
      const [all, one] = [
        boundsOf(this.parts, this.film, camera, some),
        boundsOf(this.parts, this.film, camera, [this.begin]),
      ];
      const size = (box) => Math.max((box[2] - box[0]) / width, (box[3] - box[1]) / height, 1e-9);
      const follow = size(all) > 7 * size(one);
      this.fit = { width, follow, box: all, scale: follow ? 1 / (4 * size(one)) : 0.8 / size(all) };
    }
    const box = this.fit.follow ? boundsOf(this.parts, this.film, camera, [this.time]) : this.fit.box;
    return { scale: this.fit.scale, centre: [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2] };
  }

  draw() {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio))
      [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const camera = cameraOf(this.turn);
    const { scale, centre } = this.fitted(camera, width, height);
    const at = (point) => [
      width / 2 + scale * (dot(camera.right, point) - centre[0]),
      height / 2 - scale * (dot(camera.up, point) - centre[1]),
    ];
    const poses = posesAt(this.film, this.time);
    const parts = this.parts.filter((part) => poses[part.body]).map((part) => placed(part, poses[part.body]));
    const colours = colourSet();
    for (const part of parts.filter((one) => one.mesh.plane))
      drawGround(context, part, at, camera, { width, height, scale, centre }, colours);
    const solids = parts.filter((one) => !one.mesh.plane);
    for (const part of solids) {
      part.flat = part.points.map(at);
      const [xs, ys] = [part.flat.map(([x]) => x), part.flat.map(([, y]) => y)];
      part.screen = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    }
    for (const part of ordered(solids, camera.eye)) drawSolid(context, part, camera, colours);
    drawScale(context, scale, width, height, colours);
    this.clock.textContent = `${this.time.toFixed(2)} s`;
  }
}

function colourSet() {
  const names = ["series-0", "series-1", "series-2", "series-4", "series-6", "series-5"];
  return {
    bodies: names.map((name) => colourOf(name).map((value) => 0.82 * value + 0.18 * 255)),
    fixed: colourOf("back"),
    text: colourOf("soft"),
    line: colourOf("text"),
    ground: colourOf("ground"),
    page: colourOf("page"),
  };
}

const css = (colour, alpha = 1) =>
  `rgb(${colour.map((value) => Math.round(Math.min(255, Math.max(0, value)))).join(" ")} / ${alpha})`;

function drawSolid(context, part, camera, colours) {
  const base = part.fixed ? colours.fixed : colours.bodies[part.colour % colours.bodies.length];
  const light = unit(plus(plus(times(camera.eye, 0.5), times(camera.up, 0.8)), times(camera.right, -0.35)));
  context.lineJoin = "round";
  part.mesh.faces.forEach((face, i) => {
    const { normal } = part.planes[i];
    if (dot(normal, camera.eye) <= 0) return;
    const bright = 0.66 + 0.34 * Math.max(0, dot(normal, light));
    const tone = part.mesh.light?.[i] ? base.map((value) => 0.55 * value + 0.45 * 255) : base;
    const fill = css(tone.map((value) => value * bright));
    context.beginPath();
    face.forEach((k, n) => (n === 0 ? context.moveTo(...part.flat[k]) : context.lineTo(...part.flat[k])));
    context.closePath();
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = part.mesh.round ? fill : css(colours.line, 0.55);
    context.lineWidth = part.mesh.round ? 0.6 : 0.9;
    context.stroke();
  });
}

// A square of the plane about what is seen, with lines at round lengths from its origin.
function drawGround(context, plane, at, camera, { width, height, scale, centre }, colours) {
  const facing = dot(plane.normal, camera.eye);
  if (Math.abs(facing) < 1e-3) return;
  // The point of the plane at the picture's centre.
  const middle = plus(times(camera.right, centre[0]), times(camera.up, centre[1]));
  const centreOnPlane = plus(middle, times(camera.eye, dot(plane.normal, minus(plane.position, middle)) / facing));
  const [u, v] = [plane.along, plane.across].map((axis) => dot(axis, minus(centreOnPlane, plane.position)));
  const half = (0.62 * Math.max(width, 1.4 * height)) / scale;
  const { step } = ticks(0, 2 * half, 14);
  const corner = (a, b) => at(plus(plane.position, plus(times(plane.along, a), times(plane.across, b))));
  const outline = [
    corner(u - half, v - half),
    corner(u + half, v - half),
    corner(u + half, v + half),
    corner(u - half, v + half),
  ];
  context.beginPath();
  outline.forEach((point, i) => (i === 0 ? context.moveTo(...point) : context.lineTo(...point)));
  context.closePath();
  context.fillStyle = css(colours.ground);
  context.fill();
  context.strokeStyle = css(colours.text, 0.22);
  context.lineWidth = 1;
  context.beginPath();
  for (let k = Math.ceil((u - half) / step); k * step <= u + half; k += 1) {
    context.moveTo(...corner(k * step, v - half));
    context.lineTo(...corner(k * step, v + half));
  }
  for (let k = Math.ceil((v - half) / step); k * step <= v + half; k += 1) {
    context.moveTo(...corner(u - half, k * step));
    context.lineTo(...corner(u + half, k * step));
  }
  context.stroke();
}

function drawScale(context, scale, width, height, colours) {
  const { step } = ticks(0, width / scale, 6);
  const length = step * scale;
  context.strokeStyle = context.fillStyle = css(colours.text);
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(14, height - 14);
  context.lineTo(14 + length, height - 14);
  context.stroke();
  context.font = "12px system-ui, sans-serif";
  context.lineWidth = 3;
  context.strokeStyle = css(colours.page);
  context.strokeText(lengthText(step), 14, height - 20);
  context.fillText(lengthText(step), 14, height - 20);
}

const lengthText = (metres) =>
  metres < 1e-3
    ? `${short(metres * 1e6)} µm`
    : metres < 0.995
      ? `${Number((metres * 1e3).toPrecision(3))} mm`
      : `${Number(metres.toPrecision(3))} m`;
