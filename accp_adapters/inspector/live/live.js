"use strict";
// Every page is whole without this script, and every link works. With it, what changes is put in place without a new
// page, the server says when there is something new, and the arrow keys walk through the events.
(() => {
  const PARTS = ["threads", "content"];
  const byId = (id) => document.getElementById(id);
  const flow = () => document.querySelector(".flow-scroll");
  let waiting = false;

  const busy = () => {
    const field = document.activeElement;
    const typing = field && field.id === "query" && field.value !== field.defaultValue;
    return typing || !getSelection().isCollapsed;
  };

  const put = (next) => {
    const focused = document.activeElement && document.activeElement.id;
    const opened = new Map([...document.querySelectorAll("details[id]")].map((each) => [each.id, each.open]));
    const scrolled = [byId("threads").scrollTop, flow() ? flow().scrollTop : 0];
    document.title = next.title;
    document.body.dataset.version = next.body.dataset.version;
    for (const id of PARTS) {
      const part = next.getElementById(id);
      if (part && !part.isEqualNode(byId(id))) byId(id).replaceWith(document.importNode(part, true));
    }
    return { focused, opened, scrolled };
  };

  const restore = ({ focused, opened, scrolled }, keep) => {
    byId("threads").scrollTop = scrolled[0];
    if (keep && flow()) flow().scrollTop = scrolled[1];
    if (keep) for (const [id, open] of opened) if (byId(id)) byId(id).open = open;
    if (focused && byId(focused)) byId(focused).focus({ preventScroll: true });
    prepare();
  };

  const show = async (address, { keep = false, push = false } = {}) => {
    let answer;
    try {
      answer = await fetch(address, { credentials: "same-origin" });
    } catch {
      return tell("off", "the inspector has ended");
    }
    if (!answer.ok) return push ? location.assign(address) : undefined;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (push) history.pushState(null, "", address);
    const before = put(next);
    restore(before, keep);
    if (keep) return;
    const target = location.hash && byId(location.hash.slice(1));
    if (target) target.scrollIntoView();
    else scrollTo(0, 0);
  };

  const refresh = () => {
    if (waiting) return;
    if (busy()) {
      waiting = true;
      setTimeout(() => { waiting = false; refresh(); }, 1000);
    } else show(location.href, { keep: true });
  };

  const tell = (state, words) => {
    byId("live").className = `live ${state}`;
    byId("live").textContent = words;
  };

  // One stop of the tab key for all events; the arrow keys go on from there.
  const prepare = () => {
    const rows = [...document.querySelectorAll(".events a")];
    const current = rows.find((row) => row.hasAttribute("aria-current")) || rows[0];
    for (const row of rows) row.tabIndex = row === current ? 0 : -1;
    filter();
  };

  const filter = () => {
    const words = byId("filter") ? byId("filter").value.toLowerCase() : "";
    for (const each of document.querySelectorAll("#threads li")) each.hidden = !each.textContent.toLowerCase().includes(words);
  };

  addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href^='/']");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    show(link.getAttribute("href"), { keep: link.hasAttribute("data-keep"), push: true });
  });
  addEventListener("popstate", () => show(location.href, { keep: true }));
  addEventListener("input", (event) => { if (event.target.id === "filter") filter(); });
  addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = step && event.target.closest && event.target.closest(".events a");
    if (!row) return;
    const rows = [...document.querySelectorAll(".events a")];
    const next = rows[rows.indexOf(row) + step];
    if (next) {
      event.preventDefault();
      row.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }
  });

  prepare();
  const chosen = document.querySelector(".events a[aria-current]");
  // Not sideways: the lanes stay in view.
  if (chosen) flow().scrollTop = chosen.closest("li").offsetTop - flow().clientHeight / 2;
  const changes = new EventSource("/changes");
  changes.onopen = () => tell("on", "live");
  changes.onerror = () => tell("off", "not connected");
  changes.onmessage = (event) => { if (event.data !== document.body.dataset.version) refresh(); };
})();
