// A scene description as objects of three: bodies with their shapes, frames, axes, inertias and centres of mass.
"use strict";

const COLORS = { visual: 0x9fb0c3, collision: 0xe8873a, inertia: 0x8a5cc9, com: 0xd6336c, ghost: 0x5b8def };
const GHOST_COLORS = [0x4c7df0, 0xe0843a, 0x2f9e63, 0xb04cc8, 0xc2a21b];

// A pose row: w, x, y, z, then the place.
function setPose(object, row, start = 0) {
  object.quaternion.set(row[start + 1], row[start + 2], row[start + 3], row[start]).normalize();
  object.position.set(row[start + 4], row[start + 5], row[start + 6]);
}

function placed(object, row) {
  setPose(object, row);
  return object;
}

class Robot {
  // framing: of the picture. ghost: null, or the number of the colour in which all of it is drawn, see-through.
  constructor(description, geometries, framing, ghost = null) {
    this.description = description;
    this.ghost = ghost;
    this.root = new THREE.Group();
    this.layers = { visual: [], collision: [], frames: [], axes: [], inertia: [], com: [], names: [], bones: [] };
    this.bodies = description.bodies.map((body) => {
      const group = new THREE.Group();
      group.name = body.name;
      this.root.add(group);
      return group;
    });
    this.hasVisuals = description.shapes.some((shape) => shape.role === "visual" && shape.kind !== "half_space");
    for (const shape of description.shapes) this.addShape(shape, geometries);
    const shaped = new Set(description.shapes.filter((s) => s.role === "visual" || !this.hasVisuals).map((s) => s.body));
    const massive = description.bodies.filter((body) => body.mass > 0);
    this.isMostlyBare = 2 * description.bodies.filter((body, k) => body.mass > 0 && shaped.has(k)).length < massive.length;
    this.setPoses(description.X_WB.flat());
    this.size = framing.size;
    this.squares = [];
    for (const shape of description.shapes) if (shape.kind === "half_space") this.addPlane(shape, 12 * framing.radius);
    this.centrePlanes(framing.centreAt(0));
    if (ghost === null) this.addSigns();
  }

  // The pose (7 numbers) of each body, one after another.
  setPoses(rows) {
    this.bodies.forEach((body, k) => setPose(body, rows, 7 * k));
    if (this.totalCom) this.totalCom.position.copy(this.centreOfMass());
  }

  addShape(shape, geometries) {
    if (shape.kind === "half_space") return;
    const geometry = shape.kind === "mesh" ? geometries[shape.mesh] : primitive(shape);
    if (!geometry) return;
    const object = placed(new THREE.Mesh(geometry, this.material(shape)), shape.X_BG);
    if (shape.vertex_start !== null && shape.vertex_start !== undefined) this.addDeformable(object, shape.vertex_start);
    if (shape.kind === "ellipsoid") object.scale.set(...shape.size);
    object.castShadow = this.ghost === null && shape.role === "visual";
    object.userData = { body: shape.body, name: shape.name, role: shape.role };
    this.bodies[shape.body].add(object);
    this.layers[shape.role].push(object);
  }

  // A surface whose vertices move, from one of those that setVertices() gets.
  addDeformable(object, start) {
    const { corners } = object.geometry.userData;
    object.geometry = object.geometry.clone();
    object.geometry.userData = { corners };
    object.frustumCulled = false;
    (this.deformables ||= []).push({ geometry: object.geometry, corners, start });
  }

  // Places (3 numbers each) in World of the vertices of all deformable bodies.
  setVertices(places) {
    for (const { geometry, corners, start } of this.deformables || []) {
      const position = geometry.attributes.position;
      for (let n = 0; n < corners.length; n++) {
        const from = 3 * (start + corners[n]);
        position.array[3 * n] = places[from];
        position.array[3 * n + 1] = places[from + 1];
        position.array[3 * n + 2] = places[from + 2];
      }
      position.needsUpdate = true;
      geometry.computeVertexNormals();
      geometry.computeBoundingBox();
      geometry.computeBoundingSphere();
    }
  }

  material(shape) {
    if (this.ghost !== null) {
      const color = GHOST_COLORS[this.ghost % GHOST_COLORS.length];
      return surfaceMaterial({ color, transparent: true, opacity: 0.28, depthWrite: false });
    }
    if (shape.role === "collision") {
      return surfaceMaterial({
        color: COLORS.collision, transparent: true, opacity: 0.45, roughness: 0.9, depthWrite: false,
      });
    }
    const [r, g, b, alpha] = shape.color || [];
    const color = shape.color ? new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace) : COLORS.visual;
    const seeThrough = alpha !== undefined && alpha < 1;
    return surfaceMaterial({
      color, roughness: 0.65, metalness: 0.05, side: THREE.DoubleSide,
      transparent: seeThrough, opacity: seeThrough ? Math.max(alpha, 0.05) : 1,
    });
  }

  // A half space: a square of its surface.
  addPlane(shape, size) {
    const material = surfaceMaterial({
      color: 0xd9dee4, transparent: true, opacity: 0.5, depthWrite: false, side: THREE.DoubleSide,
    });
    const object = placed(new THREE.Mesh(new THREE.PlaneGeometry(size, size), material), shape.X_BG);
    object.userData = { body: shape.body, name: shape.name, role: shape.role };
    this.bodies[shape.body].add(object);
    this.layers[shape.role].push(object);
    if (shape.body === 0) this.squares.push(object);
  }

  // Moves the squares of World's half spaces to where the picture is.
  centrePlanes(centre) {
    for (const plane of this.squares) {
      const up = new THREE.Vector3(0, 0, 1).applyQuaternion(plane.quaternion);
      plane.position.sub(centre).projectOnVector(up).add(centre);
    }
  }

  addSigns() {
    const { frames, joints, bodies } = this.description;
    const length = 0.07 * this.size;
    bodies.forEach((body, k) => {
      this.addTriad(k, null, k ? length : 1.6 * length);
      if (k && body.mass > 0) this.addMass(body, k);
      if (k) this.addName(body.name.split("::").pop(), k, null, 0.024);
    });
    this.addBones();
    for (const frame of frames) this.addTriad(frame.body, frame.X_BF, 0.7 * length, frame.name);
    for (const joint of joints) if (joint.axis && (joint.count || joint.closes_loop)) this.addAxis(joint, 1.3 * length);
    this.totalCom = new THREE.Mesh(
      new THREE.SphereGeometry(0.016 * this.size, 24, 16),
      new THREE.MeshBasicMaterial({ color: COLORS.com, depthTest: false, transparent: true, opacity: 0.9 }));
    this.totalCom.renderOrder = 5;
    this.root.add(this.totalCom);
    this.layers.com.push(this.totalCom);
    this.totalCom.position.copy(this.centreOfMass());
  }

  addTriad(body, pose, length, name = null) {
    const triad = new THREE.Group();
    if (pose) setPose(triad, pose);
    [0xd7263d, 0x1b998b, 0x2e5eaa].forEach((color, k) => {
      const direction = new THREE.Vector3().setComponent(k, 1);
      triad.add(stick(direction, length, 0.03 * length, color));
    });
    this.bodies[body].add(triad);
    this.layers.frames.push(triad);
    if (name) this.addName(name, body, pose, 0.02);
  }

  // From the origins of bodies to their joints; to the centres of mass of those that have none but at their origin.
  addBones() {
    for (const [body, end] of this.boneEnds()) {
      const bone = new THREE.Group(), radius = 0.005 * this.size, length = end.length();
      const material = surfaceMaterial({ color: 0x52606d, roughness: 0.8 });
      const knob = new THREE.Mesh(new THREE.SphereGeometry(1.7 * radius, 16, 12), material);
      knob.position.copy(end);
      bone.add(knob);
      if (length > 1e-9 && body) {
        const shaft = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, length, 10), material);
        shaft.position.copy(end).multiplyScalar(0.5);
        shaft.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), end.clone().normalize());
        bone.add(shaft);
      }
      for (const part of bone.children) part.userData = { body, name: "bone", role: "skeleton" };
      this.bodies[body].add(bone);
      this.layers.bones.push(bone);
    }
  }

  boneEnds() {
    const ends = [], reached = new Set();
    const add = (body, [x, y, z]) => {
      if (x || y || z) reached.add(body);
      if (body || x || y || z) ends.push([body, new THREE.Vector3(x, y, z)]);
    };
    for (const joint of this.description.joints) {
      add(joint.parent, joint.X_PF.slice(4));
      add(joint.child, joint.X_CM.slice(4));
    }
    this.description.bodies.forEach((body, k) => { if (k && body.mass > 0 && !reached.has(k)) add(k, body.com); });
    return ends;
  }

  addAxis(joint, length) {
    const group = placed(new THREE.Group(), joint.X_PF);
    const direction = new THREE.Vector3(...joint.axis).normalize();
    const color = joint.closes_loop ? 0xb02a37 : joint.type === "prismatic" ? 0x2b8a3e : 0xf08c00;
    const axis = stick(direction, length, 0.05 * length, color, true);
    axis.position.addScaledVector(direction, -0.5 * length);
    group.add(axis);
    this.bodies[joint.parent].add(group);
    this.layers.axes.push(group);
  }

  addMass(body, k) {
    const radius = Math.min(Math.max(0.012 * this.size * Math.cbrt(body.mass / this.totalMass()), 0.003 * this.size),
      0.012 * this.size);
    const com = new THREE.Mesh(new THREE.SphereGeometry(radius, 16, 12),
      new THREE.MeshBasicMaterial({ color: 0xf783ac, depthTest: false, transparent: true, opacity: 0.85 }));
    com.position.set(...body.com);
    com.renderOrder = 4;
    this.bodies[k].add(com);
    this.layers.com.push(com);
    if (!body.ellipsoid) return;
    const ellipsoid = placed(new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), surfaceMaterial({
      color: COLORS.inertia, transparent: true, opacity: 0.4, depthWrite: false })), body.X_BE);
    ellipsoid.scale.set(...body.ellipsoid.map((axis) => Math.max(axis, 1e-4 * this.size)));
    this.bodies[k].add(ellipsoid);
    this.layers.inertia.push(ellipsoid);
  }

  addName(text, body, pose, size) {
    const sprite = label(text, size);
    if (pose) sprite.position.set(pose[4], pose[5], pose[6]);
    this.bodies[body].add(sprite);
    this.layers.names.push(sprite);
  }

  totalMass() {
    return this.description.bodies.reduce((sum, body) => sum + body.mass, 0) || 1;
  }

  centreOfMass() {
    const sum = new THREE.Vector3(), point = new THREE.Vector3();
    this.description.bodies.forEach((body, k) => {
      if (!(body.mass > 0)) return;
      point.set(...body.com).applyQuaternion(this.bodies[k].quaternion).add(this.bodies[k].position);
      sum.addScaledVector(point, body.mass);
    });
    return sum.multiplyScalar(1 / this.totalMass());
  }

  show(layer, visible) {
    for (const object of this.layers[layer]) object.visible = visible;
    if (layer !== "inertia" || this.ghost !== null) return;
    for (const { material } of this.layers.visual) { // what is inside is seen through
      material.userData.opacity ??= material.opacity;
      material.opacity = visible ? 0.35 * material.userData.opacity : material.userData.opacity;
      material.transparent = material.opacity < 1;
      material.depthWrite = !visible;
      material.needsUpdate = true;
    }
  }

  // Row-major 4x4 matrices of the bodies as they are drawn.
  drawnPoses() {
    this.root.updateMatrixWorld(true);
    return this.bodies.map((body) => body.matrixWorld.clone().transpose().toArray());
  }

  namedPoses() {
    return Object.fromEntries(this.drawnPoses().map((pose, k) => [this.description.bodies[k].name, pose]));
  }

  dispose() {
    this.root.removeFromParent();
    this.root.traverse((object) => {
      if (object.geometry && !object.geometry.userData.shared) object.geometry.dispose();
      if (object.material) { object.material.map?.dispose(); object.material.dispose(); }
    });
  }
}

function primitive({ kind, size }) {
  const upright = (geometry) => geometry.rotateX(Math.PI / 2); // three's axis is y, ours z
  switch (kind) {
    case "box": return new THREE.BoxGeometry(...size);
    case "sphere": return new THREE.SphereGeometry(Math.max(size[0], 1e-6), 40, 28);
    case "ellipsoid": return new THREE.SphereGeometry(1, 40, 28);
    case "cylinder": return upright(new THREE.CylinderGeometry(size[0], size[0], size[1], 40));
    case "capsule": return upright(new THREE.CapsuleGeometry(size[0], size[1], 12, 32));
    default: return null;
  }
}

// A thin cylinder from the origin along a direction, with a tip if wanted.
function stick(direction, length, radius, color, tip = false) {
  const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.95 });
  const group = new THREE.Group();
  const shaft = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, length, 10), material);
  shaft.position.y = 0.5 * length;
  group.add(shaft);
  if (tip) {
    const cone = new THREE.Mesh(new THREE.ConeGeometry(2.6 * radius, 0.22 * length, 16), material);
    cone.position.y = length;
    group.add(cone);
  }
  group.traverse((object) => { object.renderOrder = 3; });
  group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), direction);
  return group;
}

// Text that faces the camera, of the same height wherever it is: a part of the picture's.
function label(text, height) {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d"), font = "500 44px system-ui, sans-serif";
  pen.font = font;
  canvas.width = Math.ceil(pen.measureText(text).width) + 24;
  canvas.height = 60;
  pen.font = font;
  pen.fillStyle = "rgba(255,255,255,0.82)";
  pen.beginPath();
  pen.roundRect(0, 0, canvas.width, canvas.height, 12);
  pen.fill();
  pen.fillStyle = "#1f2933";
  pen.textBaseline = "middle";
  pen.fillText(text, 12, 31);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  const sprite = new THREE.Sprite(new THREE.SpriteMaterial({
    map: texture, depthTest: false, transparent: true, sizeAttenuation: false }));
  sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
  sprite.center.set(0, -0.2);
  sprite.renderOrder = 6;
  return sprite;
}
