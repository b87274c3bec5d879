// Goes on to where the page leads, until the shop's program answers there.
"use strict";
setTimeout(() => location.replace(document.getElementById("on").href), 1000);
