// One stream for all tabs: a browser opens six connections to a server, and each stream holds one. It tells the tabs the
// version of what the shop shows, and whether the shop is there.
"use strict";
const ports = new Set();
let last = {}, heard = Date.now(), source;

const tell = (message) => {
  last = message;
  for (const port of ports) port.postMessage(message);
};
const open = () => {
  source?.close();
  source = new EventSource("/events");
  source.onmessage = (event) => {
    heard = Date.now();
    tell({ version: event.data });
  };
};
setInterval(() => {
  if (Date.now() - heard < 9000) return;
  tell({ lost: true });
  if (source.readyState === EventSource.CLOSED || Date.now() - heard > 20000) open();
}, 1000);
onconnect = (event) => {
  const port = event.ports[0];
  ports.add(port);
  port.onmessage = () => ports.delete(port); // the tab is closed
  port.postMessage(last);
};
open();
