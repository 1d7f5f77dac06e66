"use strict";
// Say of tables that are wider than their place that they scroll.
const sayWider = () => {
  for (const table of document.querySelectorAll(".bd-article table")) {
    table.classList.toggle("wider", table.scrollWidth > table.clientWidth + 1);
  }
};
addEventListener("DOMContentLoaded", sayWider);
addEventListener("load", sayWider);
addEventListener("resize", sayWider);
