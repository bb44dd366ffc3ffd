"""Models from files into plants, under the names of pydrake.multibody.parsing."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.multibody.parsing.collision_filter_groups import CollisionFilterGroups as CollisionFilterGroups
    from mbcli.multibody.parsing.model_directives import (
        FlattenModelDirectives as FlattenModelDirectives,
        LoadModelDirectives as LoadModelDirectives,
        LoadModelDirectivesFromString as LoadModelDirectivesFromString,
        ProcessModelDirectives as ProcessModelDirectives,
    )
    from mbcli.multibody.parsing.package_map import PackageMap as PackageMap
    from mbcli.multibody.parsing.parser import Parser as Parser
    from mbcli.multibody.parsing.process_directives import ModelInstanceInfo as ModelInstanceInfo
    from mbcli.multibody.parsing.scoped_frame import (
        GetScopedFrameByName as GetScopedFrameByName,
        GetScopedFrameByNameMaybe as GetScopedFrameByNameMaybe,
    )
    from mbcli.parsers.scenes.directives_spec import (
        AddCollisionFilterGroup as AddCollisionFilterGroup,
        AddDirectives as AddDirectives,
        AddFrame as AddFrame,
        AddModel as AddModel,
        AddModelInstance as AddModelInstance,
        AddWeld as AddWeld,
        ModelDirective as ModelDirective,
        ModelDirectives as ModelDirectives,
    )
