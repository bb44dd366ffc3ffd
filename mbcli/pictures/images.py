"""Images of runs: PNG files drawn by Chromium, or by matplotlib where there is none, and videos by ffmpeg."""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common import child_processes
from mbcli.common.left_behind import folder_prefix
from mbcli.common.output_files import replacing, write_in_place
from mbcli.errors import MbcliError, OutputError, ResourceError
from mbcli.pictures.chromium import Chromium, find_chromium
from mbcli.pictures.html import replay_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.pictures.cameras import Camera
    from mbcli.pictures.scene import Motion, Scene

VIDEO_SUFFIXES = (".mp4", ".webm", ".gif")
MOST_FRAMES = 100_000


def image_times(runs: Sequence[tuple[Scene, Motion]], rate: float, speed: float = 1.0) -> FloatArray:
    """The times [s] of images over all runs, so many each second of a film in which they pass at a speed."""
    start, end = (pick(motion.times[k] for _, motion in runs) for pick, k in ((min, 0), (max, -1)))
    count = int((end - start) * rate / speed + 1e-6) + 1
    if count > MOST_FRAMES:
        raise OutputError(f"{count} images are more than {MOST_FRAMES}: a lower --fps makes fewer")
    return start + np.arange(count) * speed / rate


def images(
    runs: Sequence[tuple[Scene, Motion]],
    times: FloatArray,
    size: tuple[int, int],
    traces: Sequence[str] = (),
    camera: Camera | None = None,
) -> Iterator[bytes]:
    """PNG files of runs at times [s], with the time and a scale of forces in them.

    Args:
        size: width and height [pixels].
        traces: names of bodies and frames whose ways are drawn.
        camera: from which they are drawn; by default from the front, the right and above.

    ResourceError if there is neither Chromium nor matplotlib.
    """
    if find_chromium() is not None:
        yield from _by_chromium(runs, times, size, traces, camera)
        return
    from mbcli.pictures.drawn_images import drawn_images  # matplotlib

    yield from drawn_images(runs, times, size, traces, camera)


def _by_chromium(
    runs: Sequence[tuple[Scene, Motion]],
    times: FloatArray,
    size: tuple[int, int],
    traces: Sequence[str],
    camera: Camera | None,
) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory(prefix=folder_prefix("page")) as folder:
        page = Path(folder, "page.html")
        page.write_text(replay_page(runs, "images", traces=traces, plain=True, camera=camera), encoding="utf-8")
        with Chromium(*size) as browser:
            browser.open(page.as_uri())
            browser.evaluate("mbcli.ready")
            for time in times:
                head, _, data = browser.evaluate(f"mbcli.imageAt({float(time)!r})").partition(",")
                if head != "data:image/png;base64":
                    raise MbcliError("the browser made no image")
                yield base64.b64decode(data)


def write_images(
    folder: str,
    pictures: Iterator[bytes],
    count: int,
    *,
    force: bool = False,
    on_image: Callable[[int, int], object] = lambda done, count: None,
) -> list[str]:
    """Writes images as 0000.png, 0001.png, ... to a folder, which is made; returns their names.

    OutputError if there are PNG files in it already, unless force, or it cannot be written.
    """
    try:
        os.makedirs(folder, exist_ok=True)
        earlier = sorted(name for name in os.listdir(folder) if name.endswith(".png"))
        if earlier and not force:
            raise OutputError(f"{folder}: error: has PNG files in it already; --force replaces them")
        names = []
        digits = max(len(str(count - 1)), 4)
        for k, picture in enumerate(pictures):
            name = os.path.join(folder, f"{k:0{digits}d}.png")
            write_in_place(name, picture)
            names.append(name)
            on_image(k + 1, count)
        for name in earlier:  # of an earlier, longer series: they are no part of this one
            if os.path.join(folder, name) not in names and name.removesuffix(".png").isdigit():
                os.unlink(os.path.join(folder, name))
        return names
    except OSError as error:
        raise OutputError(f"{folder}: error: cannot be written: {error.strerror}") from None


def require_ffmpeg() -> str:
    """The program, of the machine or of the package imageio-ffmpeg; ResourceError if there is none."""
    program = child_processes.find_program("ffmpeg") or _packaged_ffmpeg()
    if program is None:
        raise ResourceError(
            "a video needs the program ffmpeg, which `pip install imageio-ffmpeg` brings too; --frames DIR writes "
            "images without it"
        )
    return program


def _packaged_ffmpeg() -> str | None:
    try:
        from imageio_ffmpeg import get_ffmpeg_exe  # looks for one on the machine, too

        program: str = get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        return None
    return program


def write_video(path: str, folder: str, rate: float) -> None:
    """Makes a video (MP4, WebM, GIF by its suffix) of the images that write_images() wrote to a folder.

    OutputError if ffmpeg cannot write it.
    """
    names = sorted(name for name in os.listdir(folder) if name.endswith(".png"))
    digits = len(names[0].removesuffix(".png"))
    suffix = os.path.splitext(path)[1].lower()
    coding = {
        ".mp4": ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart"],
        ".webm": ["-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p", "-crf", "30", "-b:v", "0"],
        ".gif": [],
    }[suffix]
    even = "scale=trunc(iw/2)*2:trunc(ih/2)*2"
    filters = "split[a][b];[a]palettegen[p];[b][p]paletteuse" if suffix == ".gif" else even
    command = [require_ffmpeg(), "-y", "-loglevel", "error", "-framerate", f"{rate:g}"]
    command += ["-i", f"%0{digits}d.png", "-vf", filters, *coding]
    with replacing(path, suffix) as name:
        # in the folder, whose name may have a % in it
        done = child_processes.run([*command, os.path.abspath(name)], folder=folder, capture_output=True)
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise OutputError(f"{path}: error: ffmpeg: {lines[-1] if lines else 'failed'}")
