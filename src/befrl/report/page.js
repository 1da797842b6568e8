// Without scripts everything is shown; with scripts the claims can be filtered and commands copied.
"use strict";

const buttons = document.querySelectorAll(".filters button");
const claims = document.querySelectorAll("[data-claim-verdict]");

function show(verdict) {
  for (const claim of claims) claim.hidden = verdict !== "" && claim.dataset.claimVerdict !== verdict;
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.filter === verdict));
}

for (const button of buttons) {
  button.disabled = false;
  button.addEventListener("click", () => show(button.dataset.filter));
}

// A link to a claim shows the claim even if the filter hides it.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || !("claimVerdict" in target.dataset)) return;
  if (target.hidden) show("");
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
