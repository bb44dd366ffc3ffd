"""A watch over a process: an audit hook of Python that tells of files, processes and sockets outside of a folder.

Libraries of C open files that no hook sees. Files that are planted outside say that they were read by their times of
access: `Planted`.
"""

import os

SECRET = "swordfish"  # in the text of every planted file


def watch(log, folder, allowed, planted=(), system=(), reads=()):
    """Tells of this process and of its threads until it ends. Needs no other module: its text is a sitecustomize too.

    log: the file to which a line is added for each event. folder: where the process works. allowed: what paths begin
    with that it may write to. planted: names in the folder that it must not open. system: programs that it may start.
    reads: what paths begin with that it must not read.
    """
    import os
    import sys

    # event: places of the paths among its arguments; the last argument is -1 where they are not below a descriptor
    changes = {"os.remove": (0,), "os.rmdir": (0,), "os.mkdir": (0,), "os.chmod": (0,), "os.symlink": (1,)}
    changes |= {"os.rename": (0, 1), "os.link": (1,)}
    told = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def real(path):
        try:
            return os.path.realpath(os.fsdecode(path))
        except (TypeError, ValueError):
            return ""

    def tell(*words):
        os.write(told, (repr(words) + "\n").encode())

    def of_open(path, mode, flags):
        if isinstance(path, int):
            return
        name = real(path)
        if name.startswith(reads):
            tell("outside", name, flags)
        elif os.path.dirname(name) == folder and os.path.basename(name) in planted:
            tell("planted", name)
        elif flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and not name.startswith((folder, *allowed)):
            tell("written", name)

    def of_process(program, arguments, directory, *_):
        name = real(program) if os.sep in str(program) else str(program)
        if name in system and not any(entry in ("", ".") for entry in os.environ["PATH"].split(os.pathsep)):
            return
        if name != os.path.realpath(sys.executable) or real(directory or ".") == folder:
            tell("process", name, str(directory))

    def seen(event, arguments):
        if event == "open":
            of_open(*arguments)
        elif event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
            tell(event, *map(str, arguments[1:2]))
        elif event == "subprocess.Popen":
            of_process(*arguments)
        elif event in ("os.exec", "os.posix_spawn", "os.system", "os.spawn"):
            tell(event, *map(str, arguments[:1]))
        elif event in changes:
            ends = [os.fsdecode(arguments[k]) for k in changes[event] if not isinstance(arguments[k], int)]
            inside = (folder, *allowed)
            places = [end if event == "os.mkdir" else os.path.dirname(end) or "." for end in ends]
            if arguments[-1] == -1 and not all(real(place).startswith(inside) for place in places):
                tell(event, *ends)
        elif event == "exec" and getattr(arguments[0], "co_filename", "").startswith((folder, *reads)):
            tell("exec", arguments[0].co_filename)

    sys.addaudithook(seen)


SHAPE = '<geometry><sphere radius="0.1"/></geometry>'
FILES = {  # each is sound, so that whoever reads one goes on to use it
    "notes.txt": f"{SECRET} line\n",
    "part.obj": f"# {SECRET}\no {SECRET}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    "part.urdf": f'<robot name="{SECRET}"><link name="{SECRET}"><visual>{SHAPE}</visual></link></robot>',
    "part.sdf": f'<sdf version="1.9"><model name="{SECRET}"><link name="{SECRET}"/></model></sdf>',
    "part.xml": f'<mujoco model="{SECRET}"><worldbody><body name="{SECRET}"/></worldbody></mujoco>',
    "part.usda": f'#usda 1.0\n(defaultPrim = "{SECRET}")\ndef Xform "{SECRET}" {{}}\n',
    "part.dmd.yaml": f"directives:\n- add_frame: {{name: {SECRET}, X_PF: {{base_frame: world}}}}\n",
    "part.csv": f"time,{SECRET}\n0,1\n1,2\n",
}


class Planted:
    """Files outside of the folder of a process, which notice what happens to them."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for name, text in FILES.items():
            (folder / name).write_text(text)
        (folder / "probe").write_text("")
        self.times_tell = self._tells()
        self._before = self.arm()

    def arm(self):
        """Sets the times of access before those of changes, so that the next reading renews them."""
        for path in self.folder.iterdir():
            os.utime(path, ns=(0, 10**9))
        self._before = {path.name: path.stat().st_mtime_ns for path in self.folder.iterdir()}
        return self._before

    def faults(self):
        """Texts: which of them was read, changed, made or removed."""
        now = {path.name: path.stat() for path in self.folder.iterdir()}
        faults = [f"{name} is new outside" for name in now.keys() - self._before.keys()]
        faults += [f"{name} is gone outside" for name in self._before.keys() - now.keys()]
        for name in now.keys() & self._before.keys():
            if now[name].st_mtime_ns != self._before[name]:
                faults.append(f"{name} was changed outside")
            elif self.times_tell and now[name].st_atime_ns:
                faults.append(f"{name} was read outside")
        return faults

    def _tells(self):
        """Whether this file system keeps times of access."""
        self.arm()
        (self.folder / "notes.txt").read_bytes()
        return bool((self.folder / "notes.txt").stat().st_atime_ns)
