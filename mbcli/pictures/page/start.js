// Reads the data of the page and begins.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const shown = data.kind === "view" ? new ModelView(data) : new Replay(data);
window.mbcli = shown; // for scripts and the console: mbcli.drawnPoses(), mbcli.setTime(1.5)
shown.ready.catch((error) => { say(String(error), "error"); throw error; });
