// Reads the data of the page and begins.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
try {
  window.mbcli = new { view: ModelView, live: LiveScene, run: LiveRun, replay: Replay }[data.kind](data); // for scripts and the console: mbcli.setTime(1.5)
} catch (error) {
  window.mbcli = { ready: Promise.reject(error) };
  if (error === NO_WEBGL) describe(new Panel(document.getElementById("panel"), data.title || data.scene.name), data);
}
window.mbcli.ready.catch((error) => { say(String(error), "error"); if (error !== NO_WEBGL) throw error; });
