// Keeps the bar up to date, once a second while the page is shown. It asks with the order of the page and with what the
// page says of it.
"use strict";
(() => {
  const bar = document.getElementById("bar");
  const read = () => {
    if (document.hidden) return;
    const says = bar.dataset.order && document.querySelector("#status")?.dataset.state || "";
    const request = new XMLHttpRequest();
    request.open("GET", `/trouble/bar?${new URLSearchParams({ order: bar.dataset.order, says })}`);
    request.responseType = "document";
    request.onload = () => {
      const old = document.getElementById("bar-news"), fresh = request.response?.getElementById("bar-news");
      if (fresh && old.innerHTML !== fresh.innerHTML) old.replaceChildren(...fresh.childNodes);
    };
    request.send();
  };
  setInterval(read, 1000);
})();
