"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

function csv(table) {
	const cell = value => value === null ? "" : /[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value;
	return [table.columns, ...table.rows].map(row => row.map(cell).join(",")).join("\n") + "\n";
}

for (const table of data.tables) {
	const button = document.createElement("button");
	button.textContent = `${table.name}.csv (${table.rows.length} rows)`;
	button.addEventListener("click", () => {
		const link = document.createElement("a");
		link.href = URL.createObjectURL(new Blob([csv(table)], {type: "text/csv"}));
		link.download = `${table.name}.csv`;
		link.click();
		URL.revokeObjectURL(link.href);
	});
	document.getElementById("downloads").append(button);
}

document.getElementById("theme").addEventListener("click", () => {
	const root = document.documentElement;
	const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
	root.dataset.theme = dark ? "light" : "dark";
});
