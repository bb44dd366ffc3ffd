// `mbcli simulate --view`: a run while it goes. It is paused, stepped and begun anew, bodies are dragged, inputs are given.
"use strict";

const PULL_COLOR = 0x2563ab;
const SLOW_PICTURES = 8, SLOW = 80; // so many pictures of more than so many [ms] are those of a processor

class LiveRun {
  constructor(data) {
    this.stage = new Stage(document.getElementById("canvas"), data);
    this.camera = data.camera;
    this.moving = data.moving;
    this.panel = new Panel(document.getElementById("panel"), data.scene.name);
    this.buildRun(data);
    const shown = { visual: true, collision: false, contacts: false, ground: true };
    this.panel.addToggles(["visual", "collision", "bones", "frames", "axes", "names", "inertia", "com", "contacts", "ground"], shown,
      (layer, visible) => this.showLayer(layer, visible));
    this.panel.addViews(this.stage, data.views);
    this.groups = [this.panel.section("Targets"), this.panel.section("Inputs")];
    this.buildSliders(data);
    this.stage.drawOver = (pen) => { if (this.panel.shown.contacts) this.arrows?.drawLegend(pen, this.stage); };
    nameUnderPointer(this.stage, () => [this.robot.root], (k) => this.robot.description.bodies[k].name);
    this.takePointer();
    this.pictures = 0;
    this.ready = this.take(data).then(() => this.look()).then(() => { this.ask(); return true; });
  }

  async take({ scene, weight }) {
    const geometries = {};
    await fetchMeshes(scene.meshes, geometries);
    const framing = await Framing.of(scene.framing);
    this.robot = new Robot(scene, geometries, framing);
    this.stage.scene.add(this.robot.root);
    this.arrows = new ContactArrows(this.stage.scene, this.robot.size, weight);
    const radius = 0.006 * this.robot.size, material = new THREE.MeshBasicMaterial({ color: PULL_COLOR, depthTest: false });
    this.pull = new THREE.Group();
    for (const shape of [new THREE.CylinderGeometry(0.5 * radius, 0.5 * radius, 1, 10).translate(0, 0.5, 0), new THREE.SphereGeometry(radius, 12, 8)])
      this.pull.add(Object.assign(new THREE.Mesh(shape, material), { renderOrder: 5 }));
    this.pull.visible = false;
    this.stage.scene.add(this.pull);
    if (!this.robot.hasVisuals) this.panel.setLayer("collision", true);
    if (this.robot.isMostlyBare) this.panel.setLayer("bones", true);
    this.stage.fit(framing, framing.groundHeight(scene.shapes));
    this.fromCom = framing.centreAt(0).sub(this.robot.centreOfMass());
    this.stage.look(this.camera);
    for (const layer of Object.keys(this.panel.shown)) this.showLayer(layer, this.panel.shown[layer]);
    say(scene.notes.length ? scene.notes.join("\n") : null);
  }

  buildRun({ speeds, starts_again }) {
    const body = this.panel.section("Run"), button = (text, title, onclick) => {
      const made = element("button", { type: "button", text, title, onclick });
      body.append(made);
      return made;
    };
    this.pauseButton = button("pause", "space", () => this.pause(!this.paused));
    button("step", "the key .", () => this.step());
    if (starts_again) button("reset", "the key r: a new run from the start", () => this.tell({ again: true }));
    button("end", "ends the run and closes its log", () => this.tell({ end: true }));
    this.speed = element("select", { onchange: () => this.tell({ speed: JSON.parse(this.speed.value) }) },
      ...speeds.map((speed) => element("option", { value: JSON.stringify(speed), text: speedText(speed) })));
    this.speed.setAttribute("aria-label", "speed");
    this.clock = element("p", { className: "live" });
    body.append(this.speed, this.clock, element("p", { text: "Drag a body to pull it by a spring; drag beside it to turn the view." }));
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("input[type=search], input[type=number], select")) return;
      if (event.key === " ") { event.preventDefault(); this.pause(!this.paused); }
      else if (event.key === ".") this.step();
      else if (event.key === "r" && starts_again && !event.ctrlKey && !event.metaKey) this.tell({ again: true });
    });
  }

  buildSliders({ controls, scene }) {
    this.sliders = controls.map(({ name, kind, unit, lower, upper, value }) => {
      const slider = new Slider({ name: shortName(name, scene), title: `${kind} of ${name}`, unit, lower, upper, value,
        onInput: (chosen) => this.tell({ value: { kind, name, value: chosen } }) });
      slider.start = value;
      this.groups[kind === "target" ? 0 : 1].append(slider.row);
      return slider;
    });
    for (const group of this.groups) group.parentElement.hidden = !group.children.length;
  }

  pause(on) {
    this.paused = on;
    return this.tell({ paused: on });
  }

  step() {
    this.paused = true;
    return this.tell({ paused: true, steps: 1 });
  }

  showLayer(layer, visible) {
    if (layer === "ground") this.stage.ground.visible = visible;
    else if (layer === "contacts") {
      if (this.arrows) this.arrows.root.visible = visible;
      this.tell({ contacts: visible });
    } else this.robot?.show(layer, visible);
    this.stage.draw();
  }

  // The body under the pointer is pulled in the plane through the point that faces the camera.
  takePointer() {
    const canvas = this.stage.canvas;
    let normal, grabbed;
    const target = (event) => {
      const { origin, direction } = this.stage.ray(event).ray, along = direction.dot(normal);
      return origin.clone().addScaledVector(direction, grabbed.clone().sub(origin).dot(normal) / along);
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.shiftKey || !this.robot) return;
      const found = this.stage.pick(event, [this.robot.root]);
      if (!found || !this.moving[found.body]) return;
      event.stopImmediatePropagation(); // the view stays
      canvas.setPointerCapture(event.pointerId);
      [normal, grabbed] = [this.stage.camera.getWorldDirection(new THREE.Vector3()), found.point];
      this.drag = { body: found.body, point: this.robot.bodies[found.body].worldToLocal(found.point.clone()), target: found.point };
      this.tellDrag();
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.drag) return;
      this.drag.target = target(event);
      this.tellDrag();
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
      canvas.addEventListener(name, () => { if (this.drag) { this.drag = null; this.tellDrag(); } });
  }

  // Of drags that pile up only the last is sent.
  tellDrag() {
    const { drag } = this;
    this.newDrag = { drag: drag && { body: drag.body, point: drag.point.toArray(), target: drag.target.toArray() } };
    this.sending ||= (async () => {
      while (this.newDrag) {
        const document = this.newDrag;
        this.newDrag = null;
        await this.tell(document);
      }
      this.sending = null;
    })();
    this.drawPull();
  }

  drawPull() {
    this.pull.visible = Boolean(this.drag);
    if (this.drag) {
      const from = this.robot.bodies[this.drag.body].localToWorld(this.drag.point.clone());
      const [shaft, end] = this.pull.children, way = this.drag.target.clone().sub(from), length = way.length();
      shaft.position.copy(from);
      shaft.scale.set(1, Math.max(length, 1e-9), 1);
      shaft.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), length > 0 ? way.normalize() : new THREE.Vector3(0, 1, 0));
      end.position.copy(this.drag.target);
    }
    this.stage.draw();
  }

  // Draws the run where it is now; false if it has ended.
  async look() {
    const response = await fetch("state").catch(() => null);
    if (!response) { say("The run has ended.", "note"); return false; }
    this.draw(await response.json());
    return true;
  }

  // Once an animation frame; where these are too rare, the stage becomes coarse.
  async ask() {
    let since = performance.now();
    while (await this.look()) {
      await new Promise(requestAnimationFrame);
      if (this.pictures % SLOW_PICTURES) continue;
      const now = performance.now();
      if (now - since > SLOW_PICTURES * SLOW && !document.hidden && !this.stage.coarse) this.stage.coarsen();
      since = now;
    }
  }

  draw(state) {
    if (state.run !== this.run) {
      this.run = state.run;
      for (const slider of this.sliders) slider.set(slider.start);
      this.stage.centre.copy(this.stage.framing.centreAt(0));
    }
    this.state = state;
    this.paused = state.paused;
    this.pauseButton.textContent = state.paused ? "go on" : "pause";
    if (document.activeElement !== this.speed) this.speed.value = JSON.stringify(state.speed);
    const rate = state.paused ? "paused" : `${Number(state.rate.toPrecision(2))} times real time`;
    this.clock.textContent = `${state.time.toFixed(3)} s, ${rate}`;
    if (state.X_WB.length === this.robot.bodies.length) this.robot.setPoses(state.X_WB.flat());
    if (state.vertices) this.robot.setVertices(state.vertices.flat(2));
    this.robot.root.updateMatrixWorld(true);
    this.stage.follow(this.robot.centreOfMass().add(this.fromCom));
    this.arrows.set(...state.contacts);
    this.pictures++;
    this.drawPull();
  }

  tell(document) {
    return fetch("control", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(document) })
      .catch(() => null);
  }

  drawnPoses() {
    return this.robot.namedPoses();
  }
}

function speedText(speed) {
  return speed === null ? "as fast as it goes" : speed === 1 ? "real time" : `${speed} times real time`;
}
