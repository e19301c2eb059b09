// Pictures of stations: one WebGL context draws them all, and each canvas receives a copy.
let THREE = null;
try {
	THREE = await import("./three.module.js");
	if (!THREE.WebGLRenderer) THREE = null;
} catch {
	THREE = null;
}

let renderer = null;
function shared() {
	if (renderer || !THREE) return renderer;
	try {
		renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
	} catch {
		THREE = null;
	}
	return renderer;
}

const colours = { object: 0xb9c3d3, tool: 0x2563eb, device: 0x7aa2f7, force: 0xd9480f };

function mesh(body, material) {
	const geometry = new THREE.BufferGeometry();
	geometry.setAttribute("position", new THREE.Float32BufferAttribute(body.vertices, 3));
	geometry.setIndex(body.triangles);
	const flat = geometry.toNonIndexed();
	flat.computeVertexNormals();
	return new THREE.Mesh(flat, material);
}

function tool(body, material) {
	if (body?.triangles.length) return mesh(body, material);
	return new THREE.Mesh(new THREE.SphereGeometry(body?.radius ?? 0.004, 24, 16), material);
}

function place(object, pose) {
	object.position.set(pose[0], pose[1], pose[2]);
	object.quaternion.set(pose[3], pose[4], pose[5], pose[6]);
}

// What is drawn of one station.
export class Picture {
	constructor() {
		this.ready = false;
		if (!shared()) return;
		this.scene = new THREE.Scene();
		this.camera = new THREE.PerspectiveCamera(35, 16 / 9, 0.001, 10);
		this.scene.add(new THREE.HemisphereLight(0xffffff, 0x778899, 2.2));
		const sun = new THREE.DirectionalLight(0xffffff, 1.6);
		sun.position.set(0.4, 1, 0.7);
		this.scene.add(sun);
		this.tools = [];
		this.ready = true;
		this.build({ tools: [], objects: [] });
	}

	build(description) {
		if (!this.ready) return;
		if (this.bodies) this.scene.remove(this.bodies);
		this.bodies = new THREE.Group();
		const solid = new THREE.MeshStandardMaterial({ color: colours.object, roughness: 0.8, side: THREE.DoubleSide });
		for (const body of description.objects) {
			const object = mesh(body, solid);
			place(object, [...body.position, ...body.rotation]);
			this.bodies.add(object);
		}
		const bounds = new THREE.Box3().setFromObject(this.bodies);
		if (bounds.isEmpty()) bounds.set(new THREE.Vector3(-0.05, -0.05, -0.05), new THREE.Vector3(0.05, 0.05, 0.05));
		const centre = bounds.getCenter(new THREE.Vector3());
		this.size = bounds.getSize(new THREE.Vector3()).length();
		this.camera.near = 0.01 * this.size;
		this.camera.far = 10 * this.size;
		// The sphere around the bodies fills the height of the picture.
		const distance = (0.5 * this.size) / Math.sin((0.5 * this.camera.fov * Math.PI) / 180);
		this.camera.position.copy(centre).add(new THREE.Vector3(0.55, 0.75, 1.15).setLength(distance));
		this.camera.lookAt(centre);
		this.bodies.add(new THREE.GridHelper(2 * this.size, 20, 0x8894a8, 0xc3cad6).translateY(bounds.min.y - 0.001));
		this.tools = description.tools.map((body) => this.addTool(body));
		this.scene.add(this.bodies);
	}

	addTool(body) {
		const item = {
			tool: tool(body, new THREE.MeshStandardMaterial({ color: colours.tool, roughness: 0.5 })),
			device: tool(body, new THREE.MeshStandardMaterial({ color: colours.device, transparent: true, opacity: 0.3 })),
			ghost: tool(body, new THREE.MeshBasicMaterial({ color: colours.tool, transparent: true, opacity: 0.25, depthTest: false })),
			force: new THREE.ArrowHelper(new THREE.Vector3(0, 1, 0), new THREE.Vector3(), 0.01, colours.force),
		};
		item.ghost.renderOrder = 1; // seen through the bodies
		for (const part of [item.force.line, item.force.cone]) { // seen through the tool
			part.material.depthTest = false;
			part.renderOrder = 2;
		}
		this.bodies.add(item.tool, item.device, item.ghost, item.force);
		return item;
	}

	draw(canvas, states) {
		if (!this.ready) return;
		const width = canvas.clientWidth * devicePixelRatio, height = canvas.clientHeight * devicePixelRatio;
		if (width < 2 || height < 2) return;
		for (const [i, state] of Object.entries(states)) {
			const item = (this.tools[i] ??= this.addTool(null));
			place(item.tool, state.pose);
			place(item.ghost, state.pose);
			place(item.device, state.device);
			const force = new THREE.Vector3(...state.force);
			item.force.visible = force.length() > 0.01;
			item.force.position.copy(item.tool.position);
			item.force.setDirection(force.clone().normalize());
			item.force.setLength(Math.max(0.03 * this.size, 0.08 * this.size * force.length()));
		}
		renderer.setSize(width, height, false);
		this.camera.aspect = width / height;
		this.camera.updateProjectionMatrix();
		renderer.render(this.scene, this.camera);
		canvas.width = width;
		canvas.height = height;
		canvas.getContext("2d").drawImage(renderer.domElement, 0, 0);
	}
}
