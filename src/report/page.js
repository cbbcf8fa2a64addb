// Sorts a table by the column whose heading is pressed: by data-value where a cell has one, by its text otherwise.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.setAttribute("aria-sort", "none");
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.setAttribute("aria-sort", "none"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const order = new Intl.Collator(undefined, { numeric: true });
      const rows = [...table.tBodies[0].rows].sort((a, b) => order.compare(key(a), key(b)));
      table.tBodies[0].append(...(down ? rows.reverse() : rows));
    });
  });
}
