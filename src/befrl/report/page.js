// Without scripts everything is shown; with scripts the claims can be filtered and commands copied.
"use strict";

const buttons = document.querySelectorAll(".filters button");
const claims = document.querySelectorAll("[data-claim-verdict]");
const chosen = { verdict: "", kind: "", part: "" };

function refresh() {
  for (const claim of claims) {
    const { claimVerdict: verdict, claimKind: kind, claimPart: part } = claim.dataset;
    const has = { verdict, kind, part };
    claim.hidden = Object.keys(chosen).some((name) => chosen[name] !== "" && chosen[name] !== has[name]);
  }
  for (const part of document.querySelectorAll(".part"))
    part.hidden = Object.values(chosen).some(Boolean) && !part.querySelector(".claim:not([hidden])");
  for (const button of buttons)
    button.setAttribute("aria-pressed", String(chosen[button.dataset.filter] === button.dataset.value));
}

for (const button of buttons) {
  button.disabled = false;
  button.addEventListener("click", () => { chosen[button.dataset.filter] = button.dataset.value; refresh(); });
}

// A link to a claim shows the claim even if the filter hides it.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || !("claimVerdict" in target.dataset)) return;
  if (target.hidden) { Object.assign(chosen, { verdict: "", kind: "", part: "" }); refresh(); }
  target.querySelector("details").open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();

if (navigator.clipboard) {
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
  }
}
