export {
  AmbientLight, ArrowHelper, AxesHelper, Box3, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color,
  ConeGeometry, CylinderGeometry, DirectionalLight, DoubleSide, GridHelper, Group, HemisphereLight, InstancedMesh,
  Line, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial, MeshLambertMaterial,
  Object3D, OrthographicCamera, PerspectiveCamera, PlaneGeometry, Points, PointsMaterial, Quaternion, Raycaster, Scene,
  ShadowMaterial, PCFSoftShadowMap, PCFShadowMap, SphereGeometry, Sprite, SpriteMaterial, CanvasTexture, Vector2,
  Vector3, WebGLRenderer, WireframeGeometry, EdgesGeometry, Fog, REVISION, FrontSide, BackSide, Euler,
  SRGBColorSpace, DynamicDrawUsage,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
