// The panel beside the picture: what is shown, sliders, messages. Names come from files: they are set as text.
"use strict";

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const LAYER_NAMES = {
  visual: "visuals", collision: "collision", frames: "frames", axes: "joint axes", inertia: "inertia",
  bones: "skeleton", com: "centre of mass", names: "names", contacts: "contacts", ground: "ground grid",
};

class Panel {
  constructor(root, title) {
    this.root = root;
    this.shown = {};
    this.title = element("h1", { text: title });
    root.append(this.title);
  }

  section(name, open = true) {
    const body = element("div", { className: "section" });
    const details = element("details", { open }, element("summary", { text: name }), body);
    this.root.append(details);
    return body;
  }

  // Buttons for the cameras of a stage.
  addViews(stage, views) {
    const body = this.section("Camera");
    for (const [name, camera] of Object.entries(views))
      body.append(element("button", { type: "button", text: name, onclick: () => stage.look(camera) }));
  }

  setTitle(text) {
    this.title.textContent = text;
    document.title = `${text} – mbcli`;
  }

  // Buttons that switch layers; onChange(layer, visible).
  addToggles(layers, defaults, onChange) {
    const body = this.section("Show");
    body.classList.add("toggles");
    this.layerButtons = {};
    for (const layer of layers) {
      this.shown[layer] = Boolean(defaults[layer]);
      const button = element("button", { type: "button", text: LAYER_NAMES[layer], onclick: () => this.setLayer(layer, !this.shown[layer]) });
      button.setAttribute("aria-pressed", this.shown[layer]);
      this.layerButtons[layer] = button;
      body.append(button);
    }
    this.onLayer = onChange;
  }

  setLayer(layer, visible) {
    this.shown[layer] = visible;
    this.layerButtons[layer]?.setAttribute("aria-pressed", visible);
    this.onLayer(layer, visible);
  }
}

// One slider with a number and its unit beside it, and for radians the degrees.
class Slider {
  constructor({ name, title, unit, lower, upper, value, onInput }) {
    this.unit = unit;
    const span = upper - lower;
    this.input = element("input", { type: "range", min: lower, max: upper, step: span > 0 ? span / 1000 : 0.001, value });
    this.input.disabled = !(span > 0);
    this.hint = element("span", { className: "unit" });
    this.unitText = element("span", { className: "unit" });
    this.number = element("input", { type: "number", step: "any", className: "number" });
    this.number.setAttribute("aria-label", `${title} value`);
    this.input.setAttribute("aria-label", title);
    this.row = element("div", { className: "slider", title: `${title} [${unit}]  ${lower.toPrecision(4)} to ${upper.toPrecision(4)}` },
      element("span", { className: "name", text: name }), this.hint, this.number, this.unitText, this.input);
    this.row.dataset.search = title.toLowerCase();
    this.input.addEventListener("input", () => { this.set(Number(this.input.value)); onInput(this.value); });
    this.number.addEventListener("change", () => {
      const typed = Number(this.number.value);
      if (Number.isFinite(typed)) { this.set(Math.min(Math.max(typed, lower), upper)); onInput(this.value); }
    });
    this.set(value);
  }

  set(value) {
    this.value = value;
    this.input.value = value;
    this.number.value = Number(value.toFixed(4));
    this.hint.textContent = this.unit === "rad" ? `${((value * 180) / Math.PI).toFixed(1)}°` : "";
    this.unitText.textContent = this.unit === "1" ? "" : this.unit;
  }
}

// A line of messages above the picture; severity "error" or "note", null hides it.
function say(text, severity = "note") {
  const bar = document.getElementById("message");
  bar.hidden = !text;
  bar.textContent = text || "";
  bar.className = severity;
}

// Names of shapes and bodies under the pointer.
function nameUnderPointer(stage, roots, bodyName) {
  const tip = document.getElementById("tip");
  let waiting = 0;
  stage.canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) { tip.hidden = true; return; }
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const found = stage.pick(event, roots());
      tip.hidden = !found;
      if (!found) return;
      tip.textContent = `${bodyName(found.body)}  ·  ${found.role} ${found.name.split("::").pop()}`;
      tip.style.left = `${event.clientX + 14}px`;
      tip.style.top = `${event.clientY + 10}px`;
    }, 40);
  });
  stage.canvas.addEventListener("pointerleave", () => { clearTimeout(waiting); tip.hidden = true; });
}

// What there is to say of a model and of runs where nothing can be drawn.
async function describe(panel, data) {
  const { bodies, joints, coordinates } = data.scene || data.runs[0].scene, about = panel.section("Model");
  const mass = bodies.reduce((sum, body) => sum + body.mass, 0), lines = [`${bodies.length - 1} bodies, ${Number(mass.toPrecision(4))} kg`];
  lines.push(`${joints.filter((joint) => joint.count).length} joints that move, ${coordinates.length} positions`);
  about.append(...lines.map((text) => element("p", { text })));
  for (const { name, scene, motion } of data.runs || []) {
    const run = new Run(scene, await unpackArrays(motion)), [from, to] = [run.times[0], run.times[run.times.length - 1]];
    const force = run.largestForce(), most = force ? `, contact forces up to ${forceText(force)}` : "";
    panel.section(name).append(element("p", { text: `${run.times.length} rows from ${from} s to ${to} s${most}` }));
  }
}
