// `mbcli replay`: runs over time, the first solid, the others as ghosts.
"use strict";

class Run {
  constructor(scene, arrays) {
    this.scene = scene;
    this.times = arrays.times.values;
    this.quaternions = arrays.quaternions.values;
    this.places = arrays.places.values;
    this.count = scene.bodies.length;
    this.rows = new Float64Array(7 * this.count);
    const slice = (name) => arrays[name]?.values;
    this.contact = { offset: slice("contact_offset"), point: slice("contact_point"), force: slice("contact_force") };
    this.vertices = arrays.vertices?.values;
    this.vertexCount = arrays.vertices ? arrays.vertices.shape[1] : 0;
    this.surface = { offset: slice("surface_offset"), vertices: slice("surface_vertices"), values: slice("surface_values") };
  }

  // The row at or before a time.
  row(time) {
    let [low, high] = [0, this.times.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-9) low = middle; else high = middle - 1;
    }
    return low;
  }

  // Two rows around a time, and how far it is from the first to the second.
  between(time) {
    const k = this.row(time), next = Math.min(k + 1, this.times.length - 1);
    const gap = this.times[next] - this.times[k];
    return [k, next, gap > 0 ? Math.min(Math.max((time - this.times[k]) / gap, 0), 1) : 0];
  }

  // Places of the vertices of deformable bodies, along straight lines between two rows; null without any.
  verticesAt(time) {
    if (!this.vertices) return null;
    const [k, next, part] = this.between(time), width = 3 * this.vertexCount;
    this.moved ||= new Float32Array(width);
    for (let i = 0; i < width; i++) {
      this.moved[i] = (1 - part) * this.vertices[k * width + i] + part * this.vertices[next * width + i];
    }
    return this.moved;
  }

  // Poses between two rows: places along straight lines, quaternions along the shorter arc.
  posesAt(time) {
    const [k, next, part] = this.between(time);
    for (let b = 0; b < this.count; b++) {
      const [q0, q1] = [4 * (k * this.count + b), 4 * (next * this.count + b)];
      const [p0, p1] = [3 * (k * this.count + b), 3 * (next * this.count + b)];
      for (let i = 0; i < 4; i++) this.rows[7 * b + i] = (1 - part) * this.quaternions[q0 + i] + part * this.quaternions[q1 + i];
      for (let i = 0; i < 3; i++) this.rows[7 * b + 4 + i] = (1 - part) * this.places[p0 + i] + part * this.places[p1 + i];
    }
    return this.rows;
  }

  // Places over all rows of a point p (3 numbers) of a body.
  pathOf(body, p) {
    const path = new Float32Array(3 * this.times.length), point = new THREE.Vector3(), turn = new THREE.Quaternion();
    for (let k = 0; k < this.times.length; k++) {
      const q = 4 * (k * this.count + body), o = 3 * (k * this.count + body);
      turn.set(this.quaternions[q + 1], this.quaternions[q + 2], this.quaternions[q + 3], this.quaternions[q]).normalize();
      point.set(...p).applyQuaternion(turn);
      path.set([point.x + this.places[o], point.y + this.places[o + 1], point.z + this.places[o + 2]], 3 * k);
    }
    return path;
  }

  // The largest of its contact forces [N].
  largestForce() {
    let largest = 0;
    const { force } = this.contact;
    for (let k = 0; force && k < force.length; k += 3) largest = Math.max(largest, Math.hypot(force[k], force[k + 1], force[k + 2]));
    return largest;
  }
}

class Replay {
  constructor(data) {
    this.data = data;
    this.stage = new Stage(document.getElementById("canvas"), data);
    this.panel = new Panel(document.getElementById("panel"), data.title);
    this.ready = this.start();
  }

  async start() {
    const geometries = {};
    for (const [key, packed] of Object.entries(this.data.meshes)) {
      geometries[key] = await unpackMesh(packed);
      geometries[key].userData.shared = true;
    }
    this.runs = [];
    for (const { scene, motion } of this.data.runs) this.runs.push(new Run(scene, await unpackArrays(motion)));
    const framing = await Framing.of(this.data.framing);
    this.robots = this.runs.map((run, k) => new Robot(run.scene, geometries, framing, k ? k - 1 : null));
    this.robots.forEach((robot) => this.stage.scene.add(robot.root));
    const robot = this.robots[0], run = this.runs[0];
    robot.setPoses(run.posesAt(run.times[0]));
    this.stage.fit(framing, framing.groundHeight(run.scene.shapes));
    this.stage.look(this.data.camera);
    const largest = run.largestForce();
    this.arrows = new ContactArrows(this.stage.scene, robot.size, run.scene.weight || largest, largest);
    this.stage.drawOver = (pen) => { if (run.contact.offset) this.arrows.drawLegend(pen, this.stage); };
    this.from = Math.min(...this.runs.map(({ times }) => times[0]));
    this.to = Math.max(...this.runs.map(({ times }) => times[times.length - 1]));
    this.traces = [];
    this.buildPanel();
    this.buildTimeLine();
    for (const name of this.data.traces) this.addTrace(name);
    nameUnderPointer(this.stage, () => this.robots.map((each) => each.root), (k) => run.scene.bodies[k].name);
    this.setTime(this.from);
    if (this.data.play) this.play(true);
    return true;
  }

  buildPanel() {
    const run = this.runs[0], hasContacts = Boolean(run.contact.offset);
    const layers = ["visual", "collision", "bones", "frames", "axes", "names", "inertia", "com", ...(hasContacts ? ["contacts"] : []), "ground"];
    const shown = { visual: true, ground: true, contacts: hasContacts, collision: !this.robots[0].hasVisuals,
      bones: this.robots[0].isMostlyBare };
    this.panel.addToggles(layers, shown, (layer, visible) => this.showLayer(layer, visible));
    for (const layer of layers) this.showLayer(layer, this.panel.shown[layer]);
    if (this.runs.length > 1) {
      const legend = this.panel.section("Runs");
      this.data.runs.forEach(({ name }, k) => {
        const swatch = element("span", { className: "swatch" });
        swatch.style.background = k ? `#${GHOST_COLORS[(k - 1) % GHOST_COLORS.length].toString(16).padStart(6, "0")}` : "#5c6b7a";
        legend.append(element("div", { className: "legend" }, swatch, element("span", { text: name })));
      });
    }
    if (hasContacts) {
      const slider = new Slider({ name: "arrow length", title: "arrow length", unit: "1", lower: 0.1, upper: 4, value: 1,
        onInput: (value) => { this.arrows.scale = value; this.setTime(this.time); } });
      this.panel.section("Contact forces").append(slider.row, element("p", { text: this.arrows.words() }));
    }
    if (run.surface.offset) {
      const largest = run.surface.values.reduce((a, b) => Math.max(a, b), 1e-12);
      this.surfaces = new PressureSurfaces(this.stage.scene, this.panel, largest);
      this.arrows.dot = 0.35; // so that they do not hide the pressure
    }
    this.panel.addViews(this.stage, this.data.views);
    const traces = this.panel.section("Traces");
    const names = [...run.scene.bodies.slice(1).map((body) => body.name), ...run.scene.frames.map((frame) => frame.name)];
    const chooser = element("select", { onchange: () => { if (chooser.value) this.addTrace(chooser.value); chooser.value = ""; } },
      element("option", { value: "", text: "trace a body or frame …" }),
      ...names.map((name) => element("option", { value: name, text: name })));
    this.traceList = element("div");
    traces.append(chooser, this.traceList);
  }

  addTrace(name) {
    const scenes = this.runs.map(({ scene }) => scene);
    const colors = [0xd9480f, 0x1971c2, 0x2f9e44, 0x9c36b5, 0xe67700];
    const color = colors[this.traces.length % colors.length];
    const lines = [];
    scenes.forEach((scene, k) => {
      const short = (full) => full === name || full.split("::").pop() === name;
      const frame = scene.frames.find((each) => short(each.name));
      const body = frame ? frame.body : scene.bodies.findIndex((each) => short(each.name));
      if (body < 0) return;
      const path = this.runs[k].pathOf(body, frame ? frame.X_BF.slice(4) : [0, 0, 0]);
      lines.push({ run: this.runs[k], line: new Trace(this.stage.scene, path, color) });
    });
    if (!lines.length) return;
    const trace = { name, lines };
    this.traces.push(trace);
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = `#${color.toString(16).padStart(6, "0")}`;
    const row = element("div", { className: "legend" }, swatch, element("span", { text: name }),
      element("button", { type: "button", text: "×", title: "remove", onclick: () => {
        lines.forEach(({ line }) => line.dispose());
        this.traces.splice(this.traces.indexOf(trace), 1);
        row.remove();
        this.stage.draw();
      } }));
    this.traceList.append(row);
    this.setTime(this.time ?? this.from);
  }

  showLayer(layer, visible) {
    if (layer === "ground") this.stage.ground.visible = visible;
    else if (layer === "contacts") {
      this.arrows.root.visible = visible;
      if (this.surfaces) this.surfaces.mesh.visible = visible;
    }
    else this.robots.forEach((robot) => robot.show(layer, visible));
    this.stage.draw();
  }

  buildTimeLine() {
    const bar = document.getElementById("timeline");
    bar.hidden = false;
    this.button = element("button", { type: "button", className: "play", title: "play or pause (space)", onclick: () => this.play(!this.playing) });
    this.range = element("input", { type: "range", min: this.from, max: this.to, step: Math.max((this.to - this.from) / 5000, 1e-9) });
    this.range.setAttribute("aria-label", "time");
    this.range.addEventListener("input", () => { this.play(false); this.setTime(Number(this.range.value)); });
    this.clock = element("span", { className: "clock" });
    const speeds = [...new Set([0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, this.data.speed])].sort((a, b) => a - b);
    this.speed = element("select", { title: "speed" },
      ...speeds.map((s) => element("option", { value: s, text: `${s}×`, selected: s === this.data.speed })));
    bar.append(this.button, this.range, this.clock, this.speed);
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("input[type=search], input[type=number], select")) return;
      const step = this.runs[0].times.length > 1 ? (this.to - this.from) / (this.runs[0].times.length - 1) : 0;
      if (event.key === " ") { event.preventDefault(); this.play(!this.playing); }
      else if (event.key === ".") this.setTime(this.time + step);
      else if (event.key === ",") this.setTime(this.time - step);
    });
    this.play(false);
  }

  play(on) {
    this.playing = on;
    this.button.textContent = on ? "❚❚" : "▶";
    if (!on) return;
    if (this.time >= this.to) this.setTime(this.from);
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      const time = this.time + ((now - before) / 1000) * Number(this.speed.value);
      before = now;
      this.setTime(time > this.to ? this.from : time);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  setTime(time) {
    this.time = Math.min(Math.max(time, this.from), this.to);
    this.robots.forEach((robot, k) => {
      robot.setPoses(this.runs[k].posesAt(this.time));
      const vertices = this.runs[k].verticesAt(this.time);
      if (vertices) robot.setVertices(vertices);
    });
    const run = this.runs[0], row = run.row(this.time), centre = this.stage.framing.centreAt(...run.between(this.time));
    this.stage.follow(centre);
    for (const robot of this.robots) robot.centrePlanes(centre);
    const { offset, point, force } = run.contact;
    if (offset) this.arrows.set(point.subarray(3 * offset[row], 3 * offset[row + 1]), force.subarray(3 * offset[row], 3 * offset[row + 1]));
    const surface = run.surface;
    if (surface.offset) this.surfaces.set(surface.vertices.subarray(9 * surface.offset[row], 9 * surface.offset[row + 1]),
      surface.values.subarray(3 * surface.offset[row], 3 * surface.offset[row + 1]));
    for (const { lines } of this.traces) for (const { run: of, line } of lines) line.until(of.row(this.time));
    this.range.value = this.time;
    this.clock.textContent = `${this.timeText(this.time)} / ${this.timeText(this.to)} s`;
    this.stage.draw();
  }

  // With more digits in a shorter run.
  timeText(time) {
    return time.toFixed(Math.min(Math.max(2, 2 - Math.floor(Math.log10(this.to - this.from || 1))), 9));
  }

  // Draws a time at once, for images.
  drawAt(time) {
    this.setTime(time);
    this.stage.drawNow();
    return this.stage.drawn;
  }

  // The picture of a time, with that time, as the URL of a PNG file.
  imageAt(time) {
    this.drawAt(time);
    const { canvas, overlay } = this.stage, { copy, pen } = this.stage.copy();
    canvas.style.display = overlay.style.display = "none"; // the browser need not show what it draws
    const unit = this.stage.textHeight;
    pen.font = `${unit}px system-ui, sans-serif`;
    pen.fillStyle = "#1f2933";
    pen.fillText(`t = ${this.timeText(this.time)} s`, unit, 1.8 * unit);
    this.surfaces?.drawLegend(pen, this.stage);
    return copy.toDataURL("image/png");
  }

  drawnPoses(k = 0) {
    return this.robots[k].namedPoses();
  }
}
