"use strict";
// The page says everything without this script. It opens what a link leads to in browsers that do not open it
// themselves, and lets the arrow keys walk through the runs, so that the tab key passes them in one step.
(() => {
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let parent = target && target.closest("details"); parent; parent = parent.parentElement.closest("details")) {
      parent.open = true;
    }
    if (target) {
      target.scrollIntoView();
      target.focus({ preventScroll: true });
    }
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  const dots = [...document.querySelectorAll(".dots a")];
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const select = (at) => {
    for (const dot of dots) dot.setAttribute("tabindex", "-1");
    dots[at].setAttribute("tabindex", "0");
  };
  if (dots.length) select(0);
  for (const [at, dot] of dots.entries()) {
    dot.addEventListener("click", () => {
      select(at);
      if (dot.getAttribute("href") === location.hash) reveal();
    });
    dot.addEventListener("keydown", (event) => {
      const next = at + (steps[event.key] || 0);
      if (next === at || !dots[next]) return;
      event.preventDefault();
      select(next);
      dots[next].focus();
    });
  }
})();
