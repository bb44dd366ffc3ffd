// The room in which robots stand: camera, lights, ground grid; what is drawn when something has changed.
"use strict";

const NO_WEBGL = "This browser draws no 3D pictures, since its WebGL is off or missing: try another browser, or switch on " +
  "hardware acceleration in its settings.";

const COARSE_PIXELS = 300_000; // of 1060 x 800 a third

// Whether there is nothing but the picture: films and images, which the processor draws.
function isPlain() {
  return document.body.classList.contains("plain");
}

// How a surface looks; without gloss in films, which takes a third of the time.
function surfaceMaterial(options) {
  const { roughness, metalness, ...matt } = options;
  return isPlain() ? new THREE.MeshLambertMaterial(matt) : new THREE.MeshStandardMaterial(options);
}

class Stage {
  // Throws NO_WEBGL where the browser has none.
  constructor(canvas, { field_of_view, room }) {
    this.canvas = canvas;
    this.room = room;
    this.mayFollow = true;
    const asked = { antialias: true, preserveDrawingBuffer: true, alpha: true, depth: true, stencil: false };
    const context = canvas.getContext("webgl2", asked);
    if (!context) throw NO_WEBGL;
    this.renderer = new THREE.WebGLRenderer({ canvas, context, antialias: true, preserveDrawingBuffer: true });
    canvas.addEventListener("webglcontextlost", () => say("The browser has taken WebGL away from this page: load it again.", "error"));
    this.overlay = element("canvas", { className: "overlay" });
    canvas.after(this.overlay);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = isPlain() ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(0xf3f5f8);
    this.camera = new THREE.PerspectiveCamera(field_of_view, 1, 0.01, 100);
    this.camera.up.set(0, 0, 1);
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.draw());
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0xaab4bf, 1.5));
    this.sun = new THREE.DirectionalLight(0xffffff, 2.0);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0005;
    this.scene.add(this.sun, this.sun.target);
    const fill = new THREE.DirectionalLight(0xdfe8ff, 0.7); // so that faces away from the sun differ
    fill.position.set(2.0, 0.6, 0.8);
    this.scene.add(fill);
    this.ground = new THREE.Group();
    this.scene.add(this.ground);
    this.drawn = 0;
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    const coarse = Math.min(Math.sqrt(COARSE_PIXELS / (width * height)), 1);
    this.renderer.setPixelRatio(this.coarse ? coarse : Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  // For a processor that draws in place of a graphics card: fewer pixels, no shadows, no fine grid.
  coarsen() {
    this.coarse = true;
    this.sun.castShadow = false;
    this.ground.children[0].visible = false;
    this.resize();
  }

  // Draws once in the next animation frame, however often it is asked for.
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    if (this.waiting) cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    this.renderer.render(this.scene, this.camera);
    if (!isPlain()) {
      [this.overlay.width, this.overlay.height] = [this.canvas.width, this.canvas.height];
      this.drawOver?.(this.overlay.getContext("2d"));
    }
    this.drawn++;
  }

  // What is drawn, and over it what drawOver writes, as a canvas. Its pixels are read: to draw the one canvas on the other
  // takes the processor three times as long.
  copy() {
    const { width, height } = this.canvas, gl = this.renderer.getContext(), row = 4 * width;
    const pixels = new Uint8Array(row * height), image = new ImageData(width, height), copy = element("canvas");
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    for (let k = 0; k < height; k++) image.data.set(pixels.subarray(row * k, row * (k + 1)), row * (height - 1 - k));
    [copy.width, copy.height] = [width, height];
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.putImageData(image, 0, 0);
    pen.save();
    this.drawOver?.(pen);
    pen.restore();
    return { copy, pen };
  }

  // Grid, shadows and clipping for a sphere of contents; the ground is at a height.
  fit(framing, height) {
    this.ground.traverse((object) => { object.geometry?.dispose(); object.material?.dispose(); });
    this.ground.clear();
    this.framing = framing;
    this.centre = framing.centreAt(0);
    const extent = Math.max(1.3 * framing.radius, 0.02);
    const cell = roundLength(extent / 4);
    const half = Math.ceil((1.5 * extent) / cell) * cell;
    const fine = isPlain() ? [] : [[cell / 5, 0xe3e7ec, 0]]; // in films, lines take longer than the robot
    for (const [step, color, lift] of [...fine, [cell, 0xc3cad3, 1e-4 * extent]]) {
      const grid = new THREE.GridHelper(2 * half, Math.round((2 * half) / step), color, color);
      grid.rotation.x = Math.PI / 2;
      grid.position.z = lift;
      this.ground.add(grid);
    }
    const shadow = new THREE.Mesh(new THREE.PlaneGeometry(2 * half, 2 * half), new THREE.ShadowMaterial({ opacity: 0.2 }));
    shadow.position.z = 2e-4 * extent;
    shadow.receiveShadow = true;
    this.ground.add(shadow);
    this.ground.position.z = height;
    const reach = 2.8 * framing.radius;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01 * extent,
      far: 8 * extent });
    this.sun.shadow.camera.updateProjectionMatrix();
    [this.cell, this.extent] = [cell, extent];
    this.light();
  }

  // Puts the sun above the centre, and the grid, by whole cells, below it.
  light() {
    const { x, y } = this.centre;
    this.ground.position.setX(Math.round(x / this.cell) * this.cell).setY(Math.round(y / this.cell) * this.cell);
    this.sun.position.copy(this.centre).add(new THREE.Vector3(0.7, -1.1, 2.2).multiplyScalar(this.extent));
    this.sun.target.position.copy(this.centre);
  }

  // Goes with the robot, whose centre is now elsewhere; whoever turned or moved the camera keeps what they see of it.
  follow(centre) {
    const way = centre.clone().sub(this.centre);
    this.centre = centre.clone();
    this.light();
    if (!this.follows) return;
    this.camera.position.add(way);
    this.controls.target.add(way);
    this.controls.update();
  }

  // Looks from a camera as Python has it, see cameras.py, at the robot where it is now.
  look({ azimuth, elevation, distance, eye, target }) {
    const { framing, camera } = this, [a, e] = [azimuth, Math.min(Math.max(elevation, -89.9), 89.9)].map((x) => (x * Math.PI) / 180);
    const way = new THREE.Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e));
    const fitting = (this.room * framing.radius) / Math.sin((camera.fov * Math.PI) / 360) / Math.min(1, camera.aspect);
    this.follows = !eye && this.mayFollow;
    this.controls.target.copy(eye ? new THREE.Vector3(...target) : this.centre);
    if (eye) camera.position.set(...eye);
    else camera.position.copy(way.multiplyScalar(distance ?? fitting).add(this.centre));
    const far = camera.position.distanceTo(this.controls.target);
    camera.near = Math.min(0.01 * this.extent, 0.1 * far);
    camera.far = Math.max(60 * this.extent, 4 * far);
    camera.updateProjectionMatrix();
    this.controls.update();
    this.draw();
  }

  // The height [pixels] of what is written over the picture: in images it is a part of theirs.
  get textHeight() {
    const { height } = this.canvas;
    return isPlain() ? Math.max(height / 40, 9) : 14 * this.renderer.getPixelRatio();
  }

  // How many pixels of a picture of a height a metre is where the camera looks.
  get pixelsPerMetre() {
    const far = this.camera.position.distanceTo(this.controls.target);
    return this.canvas.height / (2 * far * Math.tan((this.camera.fov * Math.PI) / 360));
  }

  // The ray from the eye through the pointer.
  ray(event) {
    const rect = this.canvas.getBoundingClientRect();
    const place = new THREE.Vector2(
      (2 * (event.clientX - rect.left)) / rect.width - 1, 1 - (2 * (event.clientY - rect.top)) / rect.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(place, this.camera);
    return ray;
  }

  // The nearest shape under the pointer, or null.
  pick(event, roots) {
    const hit = this.ray(event).intersectObjects(roots, true)
      .find(({ object }) => object.userData.name && object.visible && object.parent.visible && object.userData.body > 0);
    return hit ? { ...hit.object.userData, point: hit.point } : null;
  }
}

// The largest of 1, 2, 5, 10, ... that is not larger.
function roundedDown(value) {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return power * (value >= 4.999 * power ? 5 : value >= 1.999 * power ? 2 : 1);
}

// The nearest of 1, 2, 5, 10, ...
function roundLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  const part = length / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

class Framing {
  // As framing.py has it.
  constructor({ radius, size, bottom }, centres) {
    Object.assign(this, { radius, size, bottom, centres });
  }

  static async of(document) {
    const { centre } = await unpackArrays(document.centre);
    return new Framing(document, centre.values);
  }

  get moves() {
    return this.centres.length > 3;
  }

  // The centre at a row of the first run, or a part of the way to the next one.
  centreAt(row, next = row, part = 0) {
    const place = (k) => new THREE.Vector3().fromArray(this.centres, this.moves ? 3 * k : 0);
    return place(row).lerp(place(next), part);
  }

  // Height of the ground: of the first half space of World, else 0, or the robot's bottom if that is lower.
  groundHeight(shapes) {
    const ground = shapes.find((shape) => shape.body === 0 && shape.kind === "half_space");
    if (ground) return ground.X_BG[6];
    return this.bottom < -0.02 * this.size ? this.bottom : 0;
  }
}
