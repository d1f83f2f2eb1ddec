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
		reach(root);
	};

	// What has to be scrolled to be seen can be reached by keyboard, and says what it is.
	const reach = (root) => {
		for (const box of root.querySelectorAll(".scroll, pre, .sections")) {
			if (box.scrollWidth <= box.clientWidth || box.hasAttribute("tabindex")) continue;
			box.tabIndex = 0;
			if (box.matches("nav")) continue;
			const title = box.querySelector("caption") ?? before(box);
			box.setAttribute("role", "group");
			box.setAttribute("aria-label", title?.textContent.trim() || "Wide content");
		}
	};
	const before = (box) => [...document.querySelectorAll("h1, h2, h3")].filter((h) => h.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING).pop();

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
		if (event.defaultPrevented) return;
		form.setAttribute("aria-busy", "true");
		if (form.method !== "post") {
			setTimeout(() => form.removeAttribute("aria-busy"), 10000); // after a file the page stays
			return;
		}
		if (form.dataset.sent) {
			event.preventDefault();
			return;
		}
		form.dataset.sent = "yes";
		setTimeout(() => form.querySelectorAll("button").forEach((b) => { b.disabled = true; }), 0);
	});
	window.addEventListener("pageshow", (event) => {
		if (!event.persisted) return;
		for (const form of document.querySelectorAll("form[aria-busy]")) {
			delete form.dataset.sent;
			form.removeAttribute("aria-busy");
			form.querySelectorAll("button").forEach((b) => { b.disabled = false; });
		}
	});

	// Charts: data-chart is the address of {"times": [seconds], "series": [{"label", "values"}]}.
	const charts = new Map(); // of figures, to what is drawn there
	let plotting;
	const load = (name, of) => new Promise((resolve, reject) => {
		const part = Object.assign(document.createElement(name), of);
		part.onload = resolve;
		part.onerror = () => reject(new Error("what draws it is missing"));
		document.head.append(part);
	});
	const library = () => plotting ??= Promise.all([
		load("link", { rel: "stylesheet", href: document.documentElement.dataset.plotStyle }),
		load("script", { src: document.documentElement.dataset.plotScript }),
	]);
	const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	// An instant on an axis whose marks are some seconds apart, in UTC.
	const mark = (seconds, apart) => {
		const text = new Date(seconds * 1e3).toISOString();
		if (apart >= 28 * 86400) return text.slice(0, 7);
		return seconds % 86400 === 0 ? text.slice(5, 10) : text.slice(11, 16);
	};
	const instant = (seconds) => new Date(seconds * 1e3).toISOString().slice(0, 16).replace("T", " ");
	const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

	async function draw(figure) {
		const room = figure.querySelector(".plot");
		try {
			room.setAttribute("aria-busy", "true");
			const [answer] = await Promise.all([fetch(figure.dataset.chart), library()]);
			if (!answer.ok) throw new Error(`status ${answer.status}`);
			const data = await answer.json();
			if (data.times.length === 0) {
				room.textContent = "Nothing happened in this time.";
				return;
			}
			paint(figure, data);
		} catch (error) {
			room.textContent = "The chart could not be loaded: " + error.message;
		} finally {
			room.removeAttribute("aria-busy");
		}
	}
	const paint = (figure, data) => {
		const room = figure.querySelector(".plot");
		const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
		room.replaceChildren();
		const plot = new uPlot({
			width: room.clientWidth, height: room.clientHeight - 30,
			tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
			scales: { x: { time: !data.round } },
			axes: [data.round ? axis : { ...axis, values: (_, marks, of, room, apart) => marks.map((m) => mark(m, apart)) }, { ...axis, size: 60, values: (_, ticks) => ticks.map((t) => short.format(t)) }],
			series: [data.round ? { label: "Round" } : { label: "UTC", value: (_, v) => v == null ? "–" : instant(v) }, ...data.series.map((s, i) => ({
				label: s.label, stroke: colour(`--series-${i % 6 + 1}`), width: 2, points: { show: data.times.length < 40 },
				value: (_, v) => v == null ? "–" : v.toLocaleString("en", { maximumFractionDigits: 10 }),
			}))],
		}, [data.times, ...data.series.map((s) => s.values.map((v) => v === null ? null : Number(v)))], room);
		charts.set(figure, { plot, data });
		requestAnimationFrame(() => fit(figure)); // by then it is known how much room the names of its lines take
	};
	const fit = (figure) => {
		const room = figure.querySelector(".plot");
		const legend = room.querySelector(".u-legend");
		charts.get(figure).plot.setSize({ width: room.clientWidth, height: Math.max(120, room.clientHeight - legend.offsetHeight) });
		if (legend.scrollHeight > legend.clientHeight) legend.tabIndex = 0;
	};
	const eachChart = (change) => {
		for (const [figure, { data }] of charts) {
			if (figure.isConnected) change(figure, data); else charts.delete(figure);
		}
	};
	let resizing;
	window.addEventListener("resize", () => {
		clearTimeout(resizing);
		resizing = setTimeout(() => {
			eachChart(fit);
			reach(document);
		}, 100);
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => eachChart(paint));

	document.addEventListener("DOMContentLoaded", () => {
		dress(document);
		const sections = document.querySelector(".sections"), current = sections?.querySelector("[aria-current]");
		if (current) sections.scrollLeft = current.offsetLeft - (sections.clientWidth - current.offsetWidth) / 2;
	});
	document.addEventListener("htmx:after:swap", () => dress(document));
})();
