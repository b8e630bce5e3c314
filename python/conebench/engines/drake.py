"""Drake (`pip install drake`, BSD-3-Clause): a MultibodyPlant, discrete or under the convex integrator CENIC.

The default is the wheel's own: "lagged" contact of Hunt and Crossley, stiffness 1e6 N/m and dissipation 50 s/m of a
geometry, friction that slips at 1e-4 m/s below its limit, one point for a pair of geometries. Drake has no restitution,
no torsional or rolling friction, no dry friction in joints; nothing sleeps."""

import logging
from importlib.metadata import version
from typing import Any, Dict, List, Mapping, Optional

import numpy as np
from pydrake.geometry import (AddCompliantHydroelasticProperties, AddContactMaterial, AddRigidHydroelasticProperties,
                              CollisionFilterDeclaration, Convex, GeometrySet, ProximityProperties)
from pydrake.geometry import Box as DrakeBox, Cylinder as DrakeCylinder, HalfSpace as DrakeHalfSpace
from pydrake.geometry import Sphere as DrakeSphere
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.math import SpatialForce, SpatialVelocity
from pydrake.multibody.plant import (AddMultibodyPlant, CoulombFriction, ExternallyAppliedSpatialForce,
                                     MultibodyPlantConfig)
from pydrake.multibody.tree import (FixedOffsetFrame, PdControllerGains, PrismaticJoint, RevoluteJoint, SpatialInertia,
                                    UnitInertia)
from pydrake.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig
from pydrake.systems.framework import DiagramBuilder

from . import Cannot, Contact, State, Wrench
from ..phenomena.scene import Array, Body, Box, Cylinder, HalfSpace, Hull, Joint, Scene, Shape, Sphere, matrix

_released = {"1.51.1": "2026-03-11"}  # upload time of the wheel in PyPI's index
_plant_options = ("discrete_contact_approximation", "contact_model", "stiction_tolerance", "sap_near_rigid_threshold",
                  "contact_surface_representation")
_material_options = ("point_stiffness", "hunt_crossley_dissipation", "relaxation_time")
_other_options = ("integrator", "accuracy", "hydroelastic_modulus", "resolution_hint")
_surfaces: Dict[str, Any] = {"hydroelastic_modulus": 1e7, "resolution_hint": 0.02}  # Drake's own numbers
_least_stiffness = 1e-9  # N/m over N s/m, of a drive without any: Drake wants a positive one

logging.getLogger("drake").setLevel(logging.ERROR)  # a warning of each half space otherwise


class Drake:
    """Options: those of MultibodyPlantConfig and of the contact material by Drake's names; hydroelastic_modulus [Pa],
    which makes boxes, cylinders and hulls compliant and half spaces rigid, with resolution_hint [m], while balls keep
    their point; integrator "icf" (CENIC with fixed steps) or "cenic" with its accuracy. Contacts of surfaces have no
    gap (NaN). CENIC of 1.51 takes a drive's velocity with the wrong sign."""

    id = "DRAKE"
    package = "drake"
    variants: Dict[str, Dict[str, Any]] = {
        "default": {},
        "hydroelastic": _surfaces,
        "similar": {"discrete_contact_approximation": "similar", **_surfaces},
        "sap": {"discrete_contact_approximation": "sap", **_surfaces},
        "tamsi": {"discrete_contact_approximation": "tamsi", **_surfaces},
        "tamsi 1e-6": {"discrete_contact_approximation": "tamsi", "stiction_tolerance": 1e-6, **_surfaces},
        "icf": {"integrator": "icf", **_surfaces},
        "cenic": {"integrator": "cenic", "accuracy": 1e-3, **_surfaces},
        # The only one for structures, drives and what slides: "similar" and "sap" lift it, as convex relaxations do,
        # stiffer surfaces make it trip, and TAMSI, nearest to Coulomb's law, fails on arches and houses of cards.
        "best": {"stiction_tolerance": 1e-6, **_surfaces},
    }

    def about(self) -> Dict[str, str]:
        found = version("drake")
        return {"version": found, **({"released": _released[found]} if found in _released else {})}

    def world(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> "_World":
        known = _plant_options + _material_options + _other_options
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise ValueError(f"DRAKE: unknown options {', '.join(unknown)}; has {', '.join(known)}")
        if options.get("integrator") not in (None, "icf", "cenic"):
            raise ValueError(f"DRAKE: integrator {options['integrator']!r} is none of icf, cenic")
        return _World(scene, time_step, options)


class _World:
    def __init__(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> None:
        _check(scene, options)
        self._scene, self._time_step, self._options = scene, time_step, options
        self._continuous = options.get("integrator") is not None
        builder = DiagramBuilder()
        config = {name: options[name] for name in _plant_options if name in options}
        # Sampled contact results would be those of the step before.
        self._plant, self._scene_graph = AddMultibodyPlant(
            MultibodyPlantConfig(time_step=0.0 if self._continuous else time_step, use_sampled_output_ports=False,
                                 adjacent_bodies_collision_filters=False, **config), builder)
        self._plant.mutable_gravity_field().set_gravity_vector(np.array(scene.gravity))
        self._bodies: Dict[str, Any] = {}
        self._geometries: Dict[str, List[Any]] = {body.name: [] for body in scene.bodies}
        for body in scene.bodies:
            self._add(body)
        self._joints = [(joint, self._joined(joint)) for joint in scene.joints]
        self._drive()
        self._plant.Finalize()
        self._owner = {geometry: name for name, each in self._geometries.items() for geometry in each}
        self._separate()
        diagram = builder.Build()
        root = diagram.CreateDefaultContext()
        self._context = self._plant.GetMyMutableContextFromRoot(root)
        self._start()
        self._simulator = self._simulated(diagram, root)
        self._steps = 0

    def _add(self, body: Body) -> None:
        """Fixed bodies are geometries of the world's."""
        plant, pose = self._plant, _pose(body.position, matrix(body.rotation))
        if body.fixed:
            made, place = plant.world_body(), pose
        else:
            inertia = SpatialInertia(body.mass, np.zeros(3), UnitInertia(*(np.array(body.inertia) / body.mass)))
            made, place = plant.AddRigidBody(body.name, inertia), RigidTransform()
        self._bodies[body.name] = made
        for number, part in enumerate(body.parts):
            at = place @ _pose(part.position, matrix(part.rotation))
            self._geometries[body.name].append(plant.RegisterCollisionGeometry(
                made, at, _shape(part.shape), f"{body.name}/{number}", self._material(part.shape)))

    def _material(self, shape: Shape) -> ProximityProperties:
        """Drake's rule, the harmonic mean, keeps equal coefficients."""
        options, mu = self._options, self._scene.material.friction
        made = ProximityProperties()
        AddContactMaterial(properties=made, friction=CoulombFriction(mu, mu),
                           dissipation=options.get("hunt_crossley_dissipation"),
                           point_stiffness=options.get("point_stiffness"))
        if "relaxation_time" in options:
            made.AddProperty("material", "relaxation_time", options["relaxation_time"])
        if "hydroelastic_modulus" in options and not isinstance(shape, Sphere):
            if isinstance(shape, HalfSpace):
                AddRigidHydroelasticProperties(properties=made)
            else:
                AddCompliantHydroelasticProperties(properties=made,
                                                   resolution_hint=options.get("resolution_hint", 0.02),
                                                   hydroelastic_modulus=options["hydroelastic_modulus"])
        return made

    def _joined(self, joint: Joint) -> Any:
        """Frames of both bodies at the anchor, along the world's axes at the start."""
        plant, anchor = self._plant, _pose(joint.anchor, np.eye(3))
        frames: List[Any] = []
        for name in (joint.parent, joint.child):
            body = None if name is None else self._scene.body(name)
            base, place = plant.world_frame(), anchor
            if body is not None and not body.fixed:
                base = self._bodies[body.name].body_frame()
                place = _pose(body.position, matrix(body.rotation)).InvertAndCompose(anchor)
            frames.append(plant.AddFrame(FixedOffsetFrame(f"{joint.name}/{len(frames)}", base, place)))
        kind = {"hinge": RevoluteJoint, "slide": PrismaticJoint}[joint.kind]
        lower, upper = joint.limits or (-np.inf, np.inf)
        return plant.AddJoint(kind(f"{joint.name}/joint", frames[0], frames[1], np.array(joint.axis), lower, upper))

    def _drive(self) -> None:
        """Drake's PD controllers, implicit in the step."""
        for joint, made in self._joints:
            drive = joint.drive
            if drive is not None:
                motor = self._plant.AddJointActuator(f"{joint.name}/drive", made, drive.effort)
                stiffness = drive.stiffness or _least_stiffness * drive.damping
                motor.set_controller_gains(PdControllerGains(p=stiffness, d=drive.damping))

    def _separate(self) -> None:
        """Bodies that do not touch each other."""
        manager = self._scene_graph.collision_filter_manager()
        pairs = [*self._scene.apart, *((joint.parent, joint.child) for joint in self._scene.joints if joint.parent)]
        for pair in pairs:
            first, second = (GeometrySet(self._geometries[name]) for name in pair)
            manager.Apply(CollisionFilterDeclaration().ExcludeBetween(first, second))

    def _start(self) -> None:
        plant, context = self._plant, self._context
        held = {joint.child for joint in self._scene.joints}
        for body in self._scene.moving:
            if body.name not in held:
                made = self._bodies[body.name]
                plant.SetFreeBodyPose(context, made, _pose(body.position, matrix(body.rotation)))
                plant.SetFreeBodySpatialVelocity(context, made,
                                                 SpatialVelocity(np.array(body.spin), np.array(body.velocity)))
        for joint, made in self._joints:
            if joint.kind == "hinge":
                made.set_angular_rate(context, joint.rate)
            else:
                made.set_translation_rate(context, joint.rate)
        drives = [joint.drive for joint, _ in self._joints if joint.drive is not None]
        if drives:
            wanted = [drive.position for drive in drives] + [drive.velocity for drive in drives]
            instance = next(made for _, made in self._joints).model_instance()
            plant.get_desired_state_input_port(instance).FixValue(context, np.array(wanted))

    def _simulated(self, diagram: Any, root: Any) -> Simulator:
        simulator = Simulator(diagram, root)
        if self._continuous:
            controlled = self._options["integrator"] == "cenic"
            ApplySimulatorConfig(SimulatorConfig(integration_scheme="cenic", max_step_size=self._time_step,
                                                 accuracy=self._options.get("accuracy", 1e-3),
                                                 use_error_control=controlled), simulator)
        simulator.Initialize()
        return simulator

    def state(self) -> State:
        bodies = [self._bodies[body.name] for body in self._scene.moving]
        poses = [body.EvalPoseInWorld(self._context) for body in bodies]
        speeds = [body.EvalSpatialVelocityInWorld(self._context) for body in bodies]
        return State(self._steps * self._time_step, _rows([pose.translation() for pose in poses]),
                     np.array([pose.rotation().matrix() for pose in poses]).reshape(-1, 3, 3),
                     _rows([speed.translational() for speed in speeds]),
                     _rows([speed.rotational() for speed in speeds]))

    def step(self, wrenches: Mapping[str, Wrench]) -> List[Contact]:
        self._plant.get_applied_spatial_force_input_port().FixValue(
            self._context, [self._applied(name, wrench) for name, wrench in wrenches.items()])
        contacts = self._contacts()  # of the update that the simulator is about to make
        self._steps += 1
        self._simulator.AdvanceTo(self._steps * self._time_step)
        if self._options.get("integrator") == "icf":  # its fixed steps leave poses of the step before in Drake's cache
            plant, context = self._plant, self._context
            plant.SetPositionsAndVelocities(context, plant.GetPositionsAndVelocities(context))
        return contacts

    def _applied(self, name: str, wrench: Wrench) -> ExternallyAppliedSpatialForce:
        made = ExternallyAppliedSpatialForce()
        made.body_index = self._bodies[name].index()
        made.p_BoBq_B = np.zeros(3)
        made.F_Bq_W = SpatialForce(np.asarray(wrench[1], float), np.asarray(wrench[0], float))
        return made

    def _contacts(self) -> List[Contact]:
        """CENIC's impulses are not to be had: the port shows the forces of the positions and velocities alone."""
        results = self._plant.get_contact_results_output_port().Eval(self._context)
        found = [self._point(results.point_pair_contact_info(k)) for k in range(results.num_point_pair_contacts())]
        surfaces = [results.hydroelastic_contact_info(k) for k in range(results.num_hydroelastic_contacts())]
        # A surface without area, of shapes that just touch, has no normal and no force.
        found += [self._patch(info) for info in surfaces if info.contact_surface().total_area() > 0.0]
        if self._continuous:
            for contact in found:
                contact.impulse = None
        return found

    def _point(self, info: Any) -> Contact:
        pair = info.point_pair()
        return Contact(self._owner[pair.id_A], self._owner[pair.id_B], np.array(info.contact_point()),
                       -np.array(pair.nhat_BA_W), -pair.depth, self._time_step * np.array(info.contact_force()))

    def _patch(self, info: Any) -> Contact:
        """A surface whose forces Drake sums: their point of no tangential torque. A torque about the force that is left
        has no place in a contact of one point, so that the impulse is not shown."""
        surface = info.contact_surface()
        areas = np.array([surface.area(face) for face in range(surface.num_faces())])
        normal = sum(area * np.array(surface.face_normal(face)) for face, area in enumerate(areas))
        normal = normal / np.linalg.norm(normal)  # from N into M
        force, torque = np.array(info.F_Ac_W().translational()), np.array(info.F_Ac_W().rotational())
        point = np.array(surface.centroid())
        impulse: Optional[Array] = self._time_step * force
        size = np.linalg.norm(force)
        if size > 0 and force @ normal > 0:
            arm = np.cross(force, torque) / size**2
            point = point + arm - (arm @ normal) / (force @ normal) * force
            if abs(torque @ force) > 1e-4 * size**2 * np.sqrt(areas.sum()):
                impulse = None
        return Contact(self._owner[surface.id_N()], self._owner[surface.id_M()], point, normal, np.nan, impulse)

    def joint_rates(self) -> Dict[str, float]:
        return {joint.name: float(made.GetOneVelocity(self._context)) for joint, made in self._joints}


def _check(scene: Scene, options: Mapping[str, Any]) -> None:
    material = scene.material
    if material.restitution > 0:
        raise Cannot("restitution", "Drake's contacts are compliant and dissipate, without a coefficient")
    for name in ("torsion", "rolling"):
        if getattr(material, name) > 0:
            raise Cannot(name, "Drake's contacts have friction along tangents alone")
    for joint in scene.joints:
        if joint.friction > 0:
            raise Cannot("joint friction", "Drake's joints have viscous damping alone")
        if joint.drive is not None and options.get("discrete_contact_approximation") == "tamsi":
            raise Cannot("drive", "TAMSI has no PD controllers")


def _shape(shape: Shape) -> Any:
    if isinstance(shape, Box):
        return DrakeBox(2 * np.array(shape.half))
    if isinstance(shape, Sphere):
        return DrakeSphere(shape.radius)
    if isinstance(shape, Cylinder):
        return DrakeCylinder(shape.radius, 2 * shape.half)
    if isinstance(shape, Hull):
        return Convex(points=np.array(shape.points, float).T, label="hull")
    return DrakeHalfSpace()


def _pose(position: Any, rotation: Array) -> RigidTransform:
    return RigidTransform(RotationMatrix(rotation), np.asarray(position, float))


def _rows(vectors: List[Array]) -> Array:
    return np.array(vectors, float).reshape(-1, 3)
