// Shows how something goes on, as the shop tells it, without a reload.
"use strict";
(() => {
  const status = document.getElementById("status");
  const connect = () => {
    const events = new EventSource(status.dataset.events);
    events.onmessage = (event) => {
      const told = JSON.parse(event.data);
      if (told.state === status.dataset.state) return; // what is shown need not be read out again
      status.dataset.state = told.state;
      status.innerHTML = told.html; // a template of the shop's
    };
    events.addEventListener("over", () => events.close());
    events.onerror = () => {
      if (events.readyState !== EventSource.CLOSED) return; // the browser tries again
      setTimeout(connect, 1000); // the shop was away and did not answer with events
    };
    window.addEventListener("pagehide", () => events.close());
  };
  connect();
})();
