"""Models from files into plants, under the names of pydrake.multibody.parsing."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.multibody.parsing.collision_filter_groups import CollisionFilterGroups
    from mbcli.multibody.parsing.model_directives import (
        FlattenModelDirectives,
        LoadModelDirectives,
        LoadModelDirectivesFromString,
        ProcessModelDirectives,
    )
    from mbcli.multibody.parsing.package_map import PackageMap
    from mbcli.multibody.parsing.parser import Parser
    from mbcli.multibody.parsing.process_directives import ModelInstanceInfo
    from mbcli.multibody.parsing.scoped_frame import GetScopedFrameByName, GetScopedFrameByNameMaybe
    from mbcli.parsers.scenes.directives_spec import (
        AddCollisionFilterGroup,
        AddDirectives,
        AddFrame,
        AddModel,
        AddModelInstance,
        AddWeld,
        ModelDirective,
        ModelDirectives,
    )

__all__ = [
    "AddCollisionFilterGroup",
    "AddDirectives",
    "AddFrame",
    "AddModel",
    "AddModelInstance",
    "AddWeld",
    "CollisionFilterGroups",
    "FlattenModelDirectives",
    "GetScopedFrameByName",
    "GetScopedFrameByNameMaybe",
    "LoadModelDirectives",
    "LoadModelDirectivesFromString",
    "ModelDirective",
    "ModelDirectives",
    "ModelInstanceInfo",
    "PackageMap",
    "Parser",
    "ProcessModelDirectives",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "collision_filter_groups": ("CollisionFilterGroups",),
        "model_directives": (
            "FlattenModelDirectives",
            "LoadModelDirectives",
            "LoadModelDirectivesFromString",
            "ProcessModelDirectives",
        ),
        "package_map": ("PackageMap",),
        "parser": ("Parser",),
        "process_directives": ("ModelInstanceInfo",),
        "scoped_frame": ("GetScopedFrameByName", "GetScopedFrameByNameMaybe"),
        "mbcli.parsers.scenes.directives_spec": (
            "AddCollisionFilterGroup",
            "AddDirectives",
            "AddFrame",
            "AddModel",
            "AddModelInstance",
            "AddWeld",
            "ModelDirective",
            "ModelDirectives",
        ),
    },
)
