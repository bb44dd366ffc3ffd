// Contact points with their forces, contact surfaces by pressure, traces of frames.
"use strict";

const FORCE_COLOR = 0xd6336c;
const FORCE_WORDS = "An arrow is the force on the body that moves; between two that move, on the one that the model names later. " +
  "Forces up to FORCE are drawn in proportion, larger ones by their logarithm.";

class ContactArrows {
  // reference: the force [N] whose arrow is as long as 0.45 of the size; 0 for the largest of what is shown.
  // largest: of all that will be shown, 0 if that is not known.
  constructor(root, size, reference, largest = 0) {
    this.root = new THREE.Group();
    root.add(this.root);
    this.radius = 0.007 * size;
    this.given = this.reference = reference;
    this.known = this.largest = largest;
    this.size = size;
    this.scale = 1;
    this.dot = 1; // of the points, relative to their usual size
    this.capacity = 0;
  }

  reserve(count) {
    if (count <= this.capacity) return;
    this.clear();
    this.capacity = Math.max(2 * count, 16);
    const material = (color, opacity) =>
      new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity });
    const make = (geometry, painted) => {
      const mesh = new THREE.InstancedMesh(geometry, painted, this.capacity);
      mesh.frustumCulled = false;
      mesh.renderOrder = 4;
      this.root.add(mesh);
      return mesh;
    };
    this.points = make(new THREE.SphereGeometry(1, 12, 8), material(0x212529, 0.85));
    this.shafts = make(new THREE.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), material(FORCE_COLOR, 0.9));
    this.tips = make(new THREE.ConeGeometry(1, 1, 14).translate(0, 0.5, 0), material(FORCE_COLOR, 0.9));
  }

  clear() {
    for (const mesh of this.root.children) { mesh.geometry.dispose(); mesh.material.dispose(); mesh.dispose(); }
    this.root.clear();
  }

  // The length [m] of the arrow of a force [N]: as arrow_length() of scene.py.
  lengthOf(force) {
    const ratio = this.reference > 0 ? force / this.reference : 0;
    return 0.45 * this.size * this.scale * (ratio <= 1 ? ratio : 1 + 0.25 * Math.log(ratio));
  }

  words() {
    return this.reference > 0 ? FORCE_WORDS.replace("FORCE", forceText(this.reference)) : "";
  }

  // Arrows for round forces in the lower left corner of a picture that a 2D pen draws, as long as they are where the
  // camera looks.
  drawLegend(pen, { textHeight: unit, pixelsPerMetre, canvas: { width, height } }) {
    if (!this.root.visible || !(this.reference > 0)) return;
    const pixels = (force) => this.lengthOf(force) * pixelsPerMetre;
    let first = roundedDown(this.reference);
    while (pixels(first) > 0.3 * width) first = roundedDown(0.99 * first);
    const forces = this.largest > this.reference ? [first, 10 * first] : [first];
    pen.font = `${unit}px system-ui, sans-serif`;
    pen.textBaseline = "middle";
    forces.reverse().forEach((force, k) => {
      const [x, y, length] = [unit, height - (1.2 + 1.5 * k) * unit, pixels(force)], tip = Math.min(0.8 * unit, 0.6 * length);
      pen.fillStyle = "#d6336c";
      pen.fillRect(x, y - 0.1 * unit, length - tip, 0.2 * unit);
      pen.beginPath();
      for (const [along, across] of [[0, 0], [tip, 0.35 * unit], [tip, -0.35 * unit]]) pen.lineTo(x + length - along, y + across);
      pen.fill();
      pen.fillStyle = "#1f2933";
      pen.fillText(forceText(force), x + length + 0.6 * unit, y);
    });
  }

  // points and forces: 3 numbers each.
  set(points, forces) {
    const count = points.length / 3;
    this.reserve(count);
    if (!this.capacity) return;
    const matrix = new THREE.Matrix4(), place = new THREE.Vector3(), force = new THREE.Vector3();
    const turn = new THREE.Quaternion(), up = new THREE.Vector3(0, 1, 0), scale = new THREE.Vector3();
    const r = this.radius;
    this.largest = this.known;
    for (let k = 0; k < count && !this.known; k++) this.largest = Math.max(this.largest, Math.hypot(...forces.slice(3 * k, 3 * k + 3)));
    this.reference = this.given || this.largest;
    for (let k = 0; k < count; k++) {
      place.fromArray(points, 3 * k);
      force.fromArray(forces, 3 * k);
      const length = this.lengthOf(force.length());
      turn.setFromUnitVectors(up, length > 0 ? force.normalize() : up);
      this.points.setMatrixAt(k, matrix.compose(place, turn, scale.setScalar(r * this.dot)));
      this.shafts.setMatrixAt(k, matrix.compose(place, turn, scale.set(0.55 * r, length, 0.55 * r)));
      place.addScaledVector(force, length);
      const tip = Math.min(3.4 * r, 0.6 * length);
      this.tips.setMatrixAt(k, matrix.compose(place, turn, scale.set(0.45 * tip, tip, 0.45 * tip)));
    }
    for (const mesh of [this.points, this.shafts, this.tips]) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}

class PressureSurfaces {
  // largest: the pressure of the brightest colour; null for the largest of what is shown.
  constructor(root, panel, largest = null) {
    this.largest = largest;
    this.end = element("span");
    this.section = panel.section("Pressure");
    this.section.append(element("div", { className: "scale" }),
      element("div", { className: "ends" }, element("span", { text: "0" }), this.end));
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({
      vertexColors: true, side: THREE.DoubleSide, transparent: true, opacity: 0.95, depthTest: false }));
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 2;
    root.add(this.mesh);
  }

  // 9 numbers a triangle, 3 values.
  set(vertices, values) {
    const largest = this.largest ?? values.reduce((a, b) => Math.max(a, b), 1e-12);
    this.section.parentElement.hidden = this.largest === null && !values.length;
    this.end.textContent = pressureText(largest);
    const colors = new Float32Array(vertices.length);
    values.forEach((value, k) => colors.set(pressureColor(value / largest), 3 * k));
    this.mesh.geometry.dispose();
    this.mesh.geometry = new THREE.BufferGeometry();
    this.mesh.geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(vertices), 3));
    this.mesh.geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  }

  // The scale of the colours in the lower right corner of a picture that a 2D pen draws.
  drawLegend(pen, { textHeight: unit, canvas: { width, height } }) {
    const [w, h] = [11 * unit, 0.6 * unit];
    const [x, y] = [width - w - unit, height - 2.6 * unit];
    const colors = pen.createLinearGradient(x, 0, x + w, 0);
    PRESSURE_STOPS.forEach((rgb, k) =>
      colors.addColorStop(k / (PRESSURE_STOPS.length - 1), `rgb(${rgb.map((part) => Math.round(255 * part)).join(",")})`));
    pen.fillStyle = colors;
    pen.fillRect(x, y, w, h);
    pen.font = `${unit}px system-ui, sans-serif`;
    pen.fillStyle = "#1f2933";
    pen.textBaseline = "top";
    pen.fillText("0", x, y + 1.2 * h);
    pen.textAlign = "right";
    pen.fillText(pressureText(this.largest), x + w, y + 1.2 * h);
  }
}

// 143000 and "Pa" as "143 kPa".
function unitText(value, unit) {
  const [size, prefix] = [[1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"]].find(([least]) => value >= 0.9995 * least) || [1e-6, "µ"];
  return `${Number((value / size).toPrecision(3))} ${prefix}${unit}`;
}

function pressureText(value) {
  return unitText(value, "Pa");
}

function forceText(value) {
  return unitText(value, "N");
}

// From dark blue over green to yellow, as linear RGB, for a part from 0 to 1.
const PRESSURE_STOPS = [[0.267, 0.005, 0.329], [0.229, 0.322, 0.546], [0.128, 0.567, 0.551], [0.369, 0.789, 0.383],
  [0.993, 0.906, 0.144]];

function pressureColor(part) {
  const place = Math.min(Math.max(part, 0), 1) * (PRESSURE_STOPS.length - 1);
  const k = Math.min(Math.floor(place), PRESSURE_STOPS.length - 2), rest = place - k;
  const mixed = PRESSURE_STOPS[k].map((value, i) => value + rest * (PRESSURE_STOPS[k + 1][i] - value));
  return new THREE.Color().setRGB(...mixed, THREE.SRGBColorSpace).toArray();
}

// The way of a point over time: all of it pale, the part until now dark.
class Trace {
  constructor(root, places, color) {
    this.count = places.length / 3;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(places), 3));
    const line = (opacity, order) => {
      const made = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color, transparent: true, opacity }));
      made.frustumCulled = false;
      made.renderOrder = order;
      return made;
    };
    this.all = line(0.3, 1);
    this.done = new THREE.Line(geometry.clone(), this.all.material.clone());
    this.done.material.opacity = 1;
    this.done.frustumCulled = false;
    root.add(this.all, this.done);
  }

  until(row) {
    this.done.geometry.setDrawRange(0, Math.max(row + 1, 0));
  }

  dispose() {
    for (const line of [this.all, this.done]) {
      line.removeFromParent();
      line.geometry.dispose();
      line.material.dispose();
    }
  }
}
