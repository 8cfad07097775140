"use strict";
(() => {
  const form = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const articles = Array.from(document.querySelectorAll("article"));
  const names = ["has", "kind", "file"];
  const select = (name) => document.getElementById(name);
  for (const name of ["kind", "file"]) {
    const values = new Set(articles.map((article) => article.dataset[name]));
    select(name).append(...Array.from(values).sort().map((value) => new Option(value, value)));
  }
  const matches = (article) => names.every((name) => {
    const value = select(name).value;
    return value === "" || (name === "has" ? article.dataset.has.split(" ").includes(value) : article.dataset[name] === value);
  });
  const apply = () => {
    let count = 0;
    for (const article of articles) {
      article.hidden = !matches(article);
      count += article.hidden ? 0 : 1;
    }
    for (const section of document.querySelectorAll("main > section")) {
      const own = Array.from(section.querySelectorAll("article"));
      section.hidden = own.length > 0 && own.every((article) => article.hidden);
    }
    shown.textContent = count + " of " + articles.length + " shown";
  };
  // The filters are in the address, so that a link can lead to what it is about.
  const read = () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const name of names) {
      const value = wanted.get(name);
      if (value !== null) {
        select(name).value = value;
        if (select(name).selectedIndex < 0) {
          select(name).value = "";
        }
      }
    }
    apply();
  };
  const write = () => {
    const chosen = names.filter((name) => select(name).value !== "").map((name) => [name, select(name).value]);
    history.replaceState(null, "", "#" + new URLSearchParams(chosen));
    apply();
  };
  form.addEventListener("change", write);
  form.addEventListener("reset", () => setTimeout(write));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", read);
  form.hidden = articles.length < 2;
  read();
})();
