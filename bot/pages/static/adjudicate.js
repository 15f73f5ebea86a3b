// Keys for the buttons and links that are on the page anyway. Nothing here knows what they do.
(() => {
  const press = { 1: "[data-key='1']", 2: "[data-key='2']", 3: "[data-key='3']", u: "[data-key='u']", j: "a[rel='next']", k: "a[rel='prev']" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const found = press[event.key] && document.querySelector(press[event.key]);
    if (found) { event.preventDefault(); found.click(); }
  });
})();
