// What pages gain from scripts: copying ids, the reader's own time, the search key, forms that are sent
// once, and charts. All pages can be read without.
(() => {
	"use strict";

	const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hour12: false });
	const dress = (root) => {
		for (const time of root.querySelectorAll("time[datetime]:not([title])")) {
			const at = new Date(time.dateTime);
			if (!Number.isNaN(at.valueOf())) time.title = local.format(at) + " here";
		}
		for (const chart of root.querySelectorAll("figure[data-chart]:not([data-drawn])")) {
			chart.dataset.drawn = "yes";
			draw(chart);
		}
	};

	document.addEventListener("click", async (event) => {
		const button = event.target.closest("button[data-copy]");
		if (!button) return;
		try {
			await navigator.clipboard.writeText(button.dataset.copy);
			button.classList.add("done");
			setTimeout(() => button.classList.remove("done"), 1200);
		} catch {
			window.prompt("Copy:", button.dataset.copy); // no clipboard without TLS
		}
	});

	document.addEventListener("keydown", (event) => {
		const writing = event.target.closest("input, textarea, select");
		if ((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !writing)) {
			event.preventDefault();
			const search = document.getElementById("search");
			search.focus();
			search.select();
		}
	});

	// A form that changes something is sent once. A page that comes back from the history can send again.
	document.addEventListener("submit", (event) => {
		const form = event.target;
		if (form.method !== "post") return;
		if (form.dataset.sent) {
			event.preventDefault();
			return;
		}
		form.dataset.sent = "yes";
		setTimeout(() => form.querySelectorAll("button").forEach((b) => { b.disabled = true; }), 0);
	});
	window.addEventListener("pageshow", (event) => {
		if (!event.persisted) return;
		for (const form of document.querySelectorAll("form[data-sent]")) {
			delete form.dataset.sent;
			form.querySelectorAll("button").forEach((b) => { b.disabled = false; });
		}
	});

	// Charts: data-chart is the address of {"times": [seconds], "series": [{"label", "values"}]}.
	let plotting;
	const library = () => plotting ??= new Promise((resolve, reject) => {
		const meta = document.querySelector("link[rel=stylesheet]").href;
		const base = new URL(meta).origin;
		const sheet = document.createElement("link");
		sheet.rel = "stylesheet";
		sheet.href = base + document.documentElement.dataset.plotStyle;
		const script = document.createElement("script");
		script.src = base + document.documentElement.dataset.plotScript;
		script.onload = resolve;
		script.onerror = reject;
		document.head.append(sheet, script);
	});
	const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

	async function draw(figure) {
		const room = figure.querySelector(".plot");
		try {
			const [answer] = await Promise.all([fetch(figure.dataset.chart), library()]);
			if (!answer.ok) throw new Error(`status ${answer.status}`);
			const data = await answer.json();
			if (data.times.length === 0) {
				room.textContent = "Nothing happened in this time.";
				return;
			}
			const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
			const time = data.round ? { time: false } : {};
			new uPlot({
				width: room.clientWidth, height: room.clientHeight - 30,
				tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
				scales: { x: time },
				axes: [axis, { ...axis, size: 60, values: (_, ticks) => ticks.map((t) => short.format(t)) }],
				series: [{ label: data.round ? "Round" : "UTC" }, ...data.series.map((s, i) => ({
					label: s.label, stroke: colour(`--series-${i % 6 + 1}`), width: 2, points: { show: data.times.length < 40 },
					value: (_, v) => v == null ? "–" : v.toLocaleString("en", { maximumFractionDigits: 10 }),
				}))],
			}, [data.times, ...data.series.map((s) => s.values.map((v) => v === null ? null : Number(v)))], room);
		} catch (error) {
			room.textContent = "The chart could not be loaded: " + error.message;
		}
	}
	let resizing;
	window.addEventListener("resize", () => {
		clearTimeout(resizing);
		resizing = setTimeout(() => {
			for (const figure of document.querySelectorAll("figure[data-drawn]")) {
				figure.querySelector(".plot").replaceChildren();
				draw(figure);
			}
		}, 200);
	});

	document.addEventListener("DOMContentLoaded", () => dress(document));
	document.addEventListener("htmx:after:swap", () => dress(document));
})();
