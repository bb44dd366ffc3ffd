// Reads the packs that mbcli/pictures/packing.py writes.
"use strict";

async function inflate(base64OrBytes) {
  const bytes = typeof base64OrBytes === "string"
    ? Uint8Array.from(atob(base64OrBytes), (c) => c.charCodeAt(0)) : base64OrBytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// {name: {shape, values}} of a pack; values are whole multiples of a step.
async function unpackArrays(packed) {
  const content = await inflate(packed);
  const headerLength = new DataView(content.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(content.subarray(4, 4 + headerLength)));
  const arrays = {};
  for (const { name, shape, step, start } of header) {
    const count = shape.reduce((a, b) => a * b, 1);
    const width = shape.slice(1).reduce((a, b) => a * b, 1);
    const data = content.subarray(4 + headerLength + start, 4 + headerLength + start + 4 * count);
    const whole = new Int32Array(count);
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const difference = data[i] | (data[count + i] << 8) | (data[2 * count + i] << 16) | (data[3 * count + i] << 24);
      whole[i] = i < width ? difference : (whole[i - width] + difference) | 0;
      values[i] = whole[i] * step;
    }
    arrays[name] = { shape, values };
  }
  return arrays;
}

async function unpackMesh(packed) {
  const { vertices, triangles } = await unpackArrays(packed);
  const corners = Uint32Array.from(triangles.values);
  const geometry = creasedGeometry(Float32Array.from(vertices.values), corners);
  geometry.userData.corners = corners; // of its triangles, as indices of vertices
  return geometry;
}

// Triangles with normals that are smooth over edges of less than 35 degrees.
function creasedGeometry(vertices, triangles) {
  const count = triangles.length / 3;
  const cosine = Math.cos((35 * Math.PI) / 180);
  const faceNormals = new Float32Array(3 * count);
  const areas = new Float32Array(count);
  const facesOf = new Uint32Array(vertices.length / 3 + 1);
  const a = new THREE.Vector3(), b = new THREE.Vector3(), c = new THREE.Vector3();
  for (let t = 0; t < count; t++) {
    const [i, j, k] = [triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]];
    a.fromArray(vertices, 3 * i); b.fromArray(vertices, 3 * j).sub(a); c.fromArray(vertices, 3 * k).sub(a);
    b.cross(c);
    areas[t] = b.length();
    b.multiplyScalar(1 / (areas[t] || 1)).toArray(faceNormals, 3 * t);
    facesOf[i + 1]++; facesOf[j + 1]++; facesOf[k + 1]++;
  }
  for (let v = 1; v < facesOf.length; v++) facesOf[v] += facesOf[v - 1];
  const next = facesOf.slice(), faces = new Uint32Array(3 * count);
  for (let n = 0; n < 3 * count; n++) faces[next[triangles[n]]++] = (n / 3) | 0;
  const positions = new Float32Array(9 * count), normals = new Float32Array(9 * count);
  for (let n = 0; n < 3 * count; n++) {
    const vertex = triangles[n], own = 3 * ((n / 3) | 0);
    let [x, y, z] = [0, 0, 0];
    const last = Math.min(facesOf[vertex + 1], facesOf[vertex] + 64);
    for (let m = facesOf[vertex]; m < last; m++) {
      const f = 3 * faces[m];
      const along = faceNormals[own] * faceNormals[f] + faceNormals[own + 1] * faceNormals[f + 1] +
        faceNormals[own + 2] * faceNormals[f + 2];
      if (along < cosine) continue;
      const area = areas[faces[m]];
      x += area * faceNormals[f]; y += area * faceNormals[f + 1]; z += area * faceNormals[f + 2];
    }
    const length = Math.hypot(x, y, z);
    if (length < 1e-20) [x, y, z] = [faceNormals[own], faceNormals[own + 1], faceNormals[own + 2]];
    const scale = length < 1e-20 ? 1 : 1 / length;
    normals.set([x * scale, y * scale, z * scale], 3 * n);
    positions.set(vertices.subarray(3 * vertex, 3 * vertex + 3), 3 * n);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
  return geometry;
}

// Into geometries: those of the meshes with these keys that are not there yet, as far as the server of the page has them.
async function fetchMeshes(keys, geometries) {
  await Promise.all(keys.filter((key) => !geometries[key]).map(async (key) => {
    const response = await fetch(`mesh/${key}`);
    if (!response.ok) return;
    geometries[key] = await unpackMesh(new Uint8Array(await response.arrayBuffer()));
    geometries[key].userData.shared = true;
  }));
}
