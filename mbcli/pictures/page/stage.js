// The room in which robots stand: camera, lights, ground grid; what is drawn when something has changed.
"use strict";

class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(0xf3f5f8);
    this.camera = new THREE.PerspectiveCamera(40, 1, 0.01, 100);
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
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.draw();
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
    this.drawn++;
  }

  // Grid, shadows and clipping for a box of contents; the ground is at a height.
  fitGround(box, height) {
    this.ground.traverse((object) => { object.geometry?.dispose(); object.material?.dispose(); });
    this.ground.clear();
    const size = box.getSize(new THREE.Vector3()), centre = box.getCenter(new THREE.Vector3());
    const extent = Math.max(size.x, size.y, size.z, 0.02);
    const cell = roundLength(extent / 4);
    const half = Math.ceil((1.5 * extent) / cell) * cell;
    const middle = [Math.round(centre.x / cell) * cell, Math.round(centre.y / cell) * cell];
    for (const [step, color, lift] of [[cell / 5, 0xe3e7ec, 0], [cell, 0xc3cad3, 1e-4 * extent]]) {
      const grid = new THREE.GridHelper(2 * half, Math.round((2 * half) / step), color, color);
      grid.rotation.x = Math.PI / 2;
      grid.position.set(...middle, height + lift);
      this.ground.add(grid);
    }
    const shadow = new THREE.Mesh(new THREE.PlaneGeometry(2 * half, 2 * half), new THREE.ShadowMaterial({ opacity: 0.2 }));
    shadow.position.set(...middle, height + 2e-4 * extent);
    shadow.receiveShadow = true;
    this.ground.add(shadow);
    this.sun.position.copy(centre).add(new THREE.Vector3(0.7, -1.1, 2.2).multiplyScalar(extent));
    this.sun.target.position.copy(centre);
    const reach = 1.4 * size.length();
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01 * extent,
      far: 8 * extent });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.cell = cell;
    this.camera.near = 0.01 * extent;
    this.camera.far = 60 * extent;
    this.camera.updateProjectionMatrix();
  }

  // Looks at a box from the front, left and above.
  lookAt(box, from = [1.25, -1.7, 0.85]) {
    const centre = box.getCenter(new THREE.Vector3());
    const radius = Math.max(0.5 * box.getSize(new THREE.Vector3()).length(), 1e-3);
    const narrow = Math.min(1, this.camera.aspect);
    const distance = (1.12 * radius) / Math.sin((this.camera.fov * Math.PI) / 360) / narrow;
    this.controls.target.copy(centre);
    this.camera.position.copy(new THREE.Vector3(...from).normalize().multiplyScalar(distance).add(centre));
    this.controls.update();
    this.draw();
  }

  // The nearest shape under the pointer, or null.
  pick(event, roots) {
    const rect = this.canvas.getBoundingClientRect();
    const place = new THREE.Vector2(
      (2 * (event.clientX - rect.left)) / rect.width - 1, 1 - (2 * (event.clientY - rect.top)) / rect.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(place, this.camera);
    const hit = ray.intersectObjects(roots, true)
      .find(({ object }) => object.userData.name && object.visible && object.userData.body > 0);
    return hit ? hit.object.userData : null;
  }
}

// The nearest of 1, 2, 5, 10, ...
function roundLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  const part = length / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}
