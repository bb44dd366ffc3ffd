// `mbcli view`: a model whose joints are moved by sliders. The server computes where bodies are; this page draws them.
"use strict";

class ModelView {
  constructor(data) {
    this.stage = new Stage(document.getElementById("canvas"), data);
    this.camera = data.camera;
    this.stage.mayFollow = false; // a slider that moves the base would seem to move the ground
    this.stage.drawOver = (pen) => { if (this.panel.shown.contacts) this.arrows?.drawLegend(pen, this.stage); };
    this.panel = new Panel(document.getElementById("panel"), data.scene.name);
    this.geometries = {};
    this.reloads = 0;
    const shown = { visual: true, axes: false, ground: true, collision: false };
    this.panel.addToggles(["visual", "collision", "bones", "frames", "axes", "names", "inertia", "com", "contacts", "ground"], shown,
      (layer, visible) => this.showLayer(layer, visible));
    this.forces = this.panel.section("Contact forces").appendChild(element("p"));
    this.panel.addViews(this.stage, data.views);
    this.postures = this.panel.section("Posture");
    this.joints = this.panel.section("Joints");
    nameUnderPointer(this.stage, () => [this.robot.root], (k) => this.robot.description.bodies[k].name);
    this.ready = this.start(data.scene);
  }

  async start(scene) {
    await this.take(scene, true);
    this.listen();
    return true;
  }

  async take(scene, first = false) {
    await fetchMeshes(scene.meshes, this.geometries);
    const before = first ? null : this.named();
    this.robot?.dispose();
    this.arrows?.clear();
    this.arrows?.root.removeFromParent();
    const framing = await Framing.of(scene.framing);
    this.robot = new Robot(scene, this.geometries, framing);
    this.stage.scene.add(this.robot.root);
    this.arrows = new ContactArrows(this.stage.scene, this.robot.size, scene.weight);
    this.surfaces ??= new PressureSurfaces(this.stage.scene, this.panel);
    if (first && !this.robot.hasVisuals) this.panel.setLayer("collision", true);
    if (first && this.robot.isMostlyBare) this.panel.setLayer("bones", true);
    this.stage.fit(framing, framing.groundHeight(scene.shapes));
    this.fromCom = framing.centreAt(0).sub(this.robot.centreOfMass());
    if (first) this.stage.look(this.camera);
    for (const layer of Object.keys(this.panel.shown)) this.showLayer(layer, this.panel.shown[layer]);
    this.panel.setTitle(scene.name);
    this.q = scene.q.slice();
    if (before) scene.coordinates.forEach((c, k) => { if (c.name in before) this.q[k] = before[c.name]; });
    this.buildPostures(scene);
    this.buildSliders(scene);
    say(scene.notes.length ? scene.notes.join("\n") : null);
    await this.move(null);
  }

  named() {
    return Object.fromEntries(this.robot.description.coordinates.map((c, k) => [c.name, this.q[k]]));
  }

  showLayer(layer, visible) {
    if (layer === "ground") this.stage.ground.visible = visible;
    else if (layer === "contacts") {
      if (this.arrows) this.arrows.root.visible = this.surfaces.mesh.visible = visible;
      if (visible && this.robot) this.move(null);
    } else this.robot?.show(layer, visible);
    this.stage.draw();
  }

  buildPostures(scene) {
    const choices = [["start", scene.q], ...Object.entries(scene.postures)];
    this.postures.replaceChildren();
    for (const [name, q] of choices)
      this.postures.append(element("button", { type: "button", text: name, onclick: () => this.setPositions(q) }));
    this.postures.append(element("button", { type: "button", text: "random", onclick: () => this.randomize() }));
  }

  buildSliders(scene) {
    this.joints.replaceChildren();
    this.sliders = [];
    if (scene.coordinates.length > 8) {
      const filter = element("input", { type: "search", placeholder: "filter joints", className: "filter" });
      filter.addEventListener("input", () => {
        for (const { row } of this.sliders) row.hidden = !row.dataset.search.includes(filter.value.toLowerCase());
      });
      this.joints.append(filter);
    }
    let k = 0;
    while (k < scene.coordinates.length) {
      if (scene.coordinates[k].unit === "1") { this.addOrientation(scene, k); k += 4; } else this.addCoordinate(scene, k++);
    }
    if (!scene.coordinates.length) this.joints.append(element("p", { text: "Nothing moves in this model." }));
  }

  addCoordinate(scene, k) {
    const { name, unit, lower, upper } = scene.coordinates[k];
    const reach = unit === "rad" ? Math.PI : Math.max(1, this.robot.size);
    const middle = Math.abs(this.q[k]) <= reach ? 0 : this.q[k];
    const low = lower ?? (upper !== null ? upper - 2 * reach : middle - reach);
    const high = upper ?? (lower !== null ? lower + 2 * reach : middle + reach);
    const slider = new Slider({
      name: shortName(name, scene), title: name, unit, lower: Math.min(low, high), upper: Math.max(low, high),
      value: this.q[k], onInput: (value) => { this.q[k] = value; this.move(k); },
    });
    slider.read = () => slider.set(this.q[k]);
    this.sliders.push(slider);
    this.joints.append(slider.row);
  }

  // Three angles in place of a quaternion.
  addOrientation(scene, k) {
    const angles = [0, 0, 0], trio = [];
    const prefix = scene.coordinates[k].name.replace(/_?qw$/, "");
    ["roll", "pitch", "yaw"].forEach((word, i) => {
      const slider = new Slider({
        name: shortName(`${prefix}_${word}`, scene), title: `${prefix} ${word}`, unit: "rad", lower: -Math.PI, upper: Math.PI,
        value: 0, onInput: (value) => {
          angles[i] = value;
          quaternionOf(angles).forEach((part, n) => { this.q[k + n] = part; });
          this.move(k);
        },
      });
      slider.read = () => {
        if (i === 0) anglesOf(this.q.slice(k, k + 4)).forEach((angle, n) => { angles[n] = angle; });
        slider.set(angles[i]);
      };
      slider.read();
      trio.push(slider);
      this.sliders.push(slider);
      this.joints.append(slider.row);
    });
  }

  setPositions(q) {
    this.q = q.slice();
    for (const slider of this.sliders) slider.read();
    return this.move(null);
  }

  randomize() {
    const q = this.robot.description.q.slice();
    this.robot.description.coordinates.forEach(({ unit, lower, upper }, k) => {
      if (lower !== null && upper !== null) q[k] = lower + Math.random() * (upper - lower);
      else if (unit === "rad") q[k] = (2 * Math.random() - 1) * Math.PI;
    });
    return this.setPositions(q);
  }

  // Asks where the bodies are; of requests that pile up only the last is sent. moved: the coordinate of a slider.
  move(moved) {
    this.wanted = { q: this.q, moved, contacts: this.panel.shown.contacts };
    this.moving ||= this.ask().finally(() => { this.moving = null; });
    return this.moving;
  }

  async ask() {
    while (this.wanted) {
      const body = JSON.stringify(this.wanted);
      this.wanted = null;
      const response = await fetch("poses", { method: "POST", headers: { "Content-Type": "application/json" }, body })
        .catch(() => null);
      if (!response) { say("The server has ended: start `mbcli view` again.", "error"); return; }
      const answer = await response.json();
      if (answer.error) { say(answer.error, "error"); continue; }
      if (answer.X_WB.length !== this.robot.bodies.length) continue;
      this.robot.setPoses(answer.X_WB.flat());
      this.stage.follow(this.robot.centreOfMass().add(this.fromCom));
      this.arrows.set(answer.contacts.flatMap((c) => c.point), answer.contacts.flatMap((c) => c.force));
      this.forces.textContent = this.arrows.words();
      this.forces.parentElement.parentElement.hidden = !this.arrows.reference || !this.panel.shown.contacts;
      this.surfaces.set(answer.surfaces.vertices, answer.surfaces.values);
      if (answer.adjusted && !this.wanted) {
        this.q = answer.q;
        for (const slider of this.sliders) slider.read();
      }
      say(answer.note || (this.robot.description.notes.join("\n") || null));
      this.stage.draw();
    }
  }

  listen() {
    const events = new EventSource("events");
    events.addEventListener("scene", async () => {
      const scene = await (await fetch("scene")).json();
      await this.take(scene);
      this.reloads++;
    });
    events.addEventListener("problem", (event) => say(JSON.parse(event.data), "error"));
  }

  drawnPoses() {
    return this.robot.namedPoses();
  }
}

// A coordinate's name without what all names of its model begin with.
function shortName(name, scene) {
  const names = scene.coordinates.map((c) => c.name);
  let common = names.length > 1 ? names.reduce((a, b) => { let n = 0; while (n < a.length && a[n] === b[n]) n++; return a.slice(0, n); }) : "";
  common = common.slice(0, common.lastIndexOf("_") + 1);
  const rest = name.startsWith(common) ? name.slice(common.length) : name;
  return (rest || name).replace(/_q$/, "");
}

// w, x, y, z of R = Rz(yaw) Ry(pitch) Rx(roll), and back.
function quaternionOf([roll, pitch, yaw]) {
  const q = new THREE.Quaternion().setFromEuler(new THREE.Euler(roll, pitch, yaw, "ZYX"));
  return [q.w, q.x, q.y, q.z];
}

function anglesOf([w, x, y, z]) {
  const { x: roll, y: pitch, z: yaw } = new THREE.Euler().setFromQuaternion(new THREE.Quaternion(x, y, z, w).normalize(), "ZYX");
  return [roll, pitch, yaw];
}
