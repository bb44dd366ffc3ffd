// The page of a Meshcat: it asks for the objects and poses of a script, and tells of its sliders and buttons.
"use strict";

class LiveScene {
  constructor(data) {
    this.stage = new Stage(document.getElementById("canvas"), data);
    this.stage.mayFollow = false;
    this.camera = data.camera;
    this.panel = new Panel(document.getElementById("panel"), data.scene.name);
    this.panel.addToggles(["visual", "collision", "contacts", "ground"], { visual: true, contacts: true, ground: true },
      (layer, visible) => this.showLayer(layer, visible));
    this.panel.addViews(this.stage, data.views);
    this.controls = this.panel.section("Controls");
    this.geometries = {};
    this.keys = {};
    this.seen = { version: null, controls: null, camera: 0 };
    document.addEventListener("keydown", (event) => { if (!event.target.matches("input")) this.keys[event.code]?.(); });
    nameUnderPointer(this.stage, () => [this.robot.root], (k) => this.robot.description.bodies[k].name);
    this.ready = this.take(data.scene).then(() => { this.ask(); return true; });
  }

  async take(scene) {
    const first = !this.robot, empty = !this.robot?.description.shapes.length;
    await fetchMeshes(scene.meshes, this.geometries);
    const framing = await Framing.of(scene.framing);
    this.robot?.dispose();
    this.robot = new Robot(scene, this.geometries, framing);
    this.stage.scene.add(this.robot.root);
    this.arrows ??= new ContactArrows(this.stage.scene, this.robot.size, 0);
    if (first || empty) {
      this.stage.fit(framing, framing.groundHeight(scene.shapes));
      this.stage.look(this.camera);
    }
    for (const layer of Object.keys(this.panel.shown)) this.showLayer(layer, this.panel.shown[layer]);
    for (const layer of ["frames", "names", "com", "bones"]) this.robot.show(layer, false);
  }

  showLayer(layer, visible) {
    if (layer === "ground") this.stage.ground.visible = visible;
    else if (layer === "contacts") this.arrows.root.visible = visible;
    else this.robot?.show(layer, visible);
    this.stage.draw();
  }

  async ask() {
    for (;;) {
      const response = await fetch("state").catch(() => null);
      if (!response) { say("The script has ended.", "note"); return; }
      const state = await response.json();
      if (state.version !== this.seen.version) {
        const { version, scene } = await (await fetch("scene")).json();
        await this.take(scene);
        this.seen.version = version;
      }
      if (state.X_WB.length === this.robot.bodies.length) this.robot.setPoses(state.X_WB.flat());
      this.arrows.set(...state.contacts);
      if (state.controls_version !== this.seen.controls) this.build(state);
      if (state.camera_version !== this.seen.camera) {
        this.seen.camera = state.camera_version;
        this.stage.look(this.camera = state.camera);
      }
      this.stage.draw();
      await new Promise((done) => setTimeout(done, 33));
    }
  }

  build({ controls, controls_version, recording }) {
    this.seen.controls = controls_version;
    this.keys = {};
    this.controls.replaceChildren();
    if (recording) this.controls.append(element("a", { href: "recording", target: "_blank", text: "recording" }));
    for (const control of controls) {
      const [less, more] = control.keys;
      if (control.kind === "button") {
        const press = () => this.tell({ name: control.name });
        this.controls.append(element("button", { type: "button", text: control.name, onclick: press }));
        if (less) this.keys[less] = press;
        continue;
      }
      const slider = new Slider({ name: control.name, title: control.name, unit: "1", lower: control.lower, upper: control.upper,
        value: control.value, onInput: (value) => this.tell({ name: control.name, value }) });
      const move = (steps) => () => {
        slider.set(Math.min(Math.max(slider.value + steps * control.step, control.lower), control.upper));
        this.tell({ name: control.name, value: slider.value });
      };
      if (less) this.keys[less] = move(-1);
      if (more) this.keys[more] = move(1);
      this.controls.append(slider.row);
    }
  }

  tell(document) {
    return fetch("control", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(document) });
  }

  drawnPoses() {
    return this.robot.namedPoses();
  }
}
