"use strict";
// Sort a table by the column whose header is pressed; pressed again, in reverse. Missing values stay last.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    header.querySelector("button").addEventListener("click", () => {
      const rising = header.getAttribute("aria-sort") !== "ascending";
      for (const other of headers) other.setAttribute("aria-sort", "none");
      header.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.value;
      const compare = (a, b) => {
        const x = key(a), y = key(b);
        if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
        const difference = Number(x) - Number(y);
        const order = Number.isNaN(difference) ? x.localeCompare(y, "en") : difference;
        return rising ? order : -order;
      };
      body.append(...[...body.rows].sort(compare));
    });
  });
}
// Say of tables that are wider than their place that they scroll.
const sayWider = () => {
  for (const region of document.querySelectorAll(".scroll")) {
    region.classList.toggle("wider", region.scrollWidth > region.clientWidth + 1);
  }
};
sayWider();
addEventListener("load", sayWider);
addEventListener("resize", sayWider);
// What is folded away on screen is shown on paper.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
