// Updates the cost forecast below the composer for the growing draft and the expiring cache.

const BYTES_PER_TOKEN = 3.3; // As sessions_app/prompt/tokens.py counts.
const MILLION = 1_000_000;

let line = null;
let cools = 0;

// The line is replaced after every answer; it has the remaining seconds, since clocks differ.
function current() {
  const found = document.querySelector("#outlook .estimate");
  if (found !== line) {
    line = found;
    cools = Date.now() + Number(found?.dataset.left ?? 0) * 1000;
  }
  return line;
}

function draw() {
  const estimate = current();
  if (!estimate) return;
  const { prompt, cached } = numbers(estimate);
  const whole = prompt + draftTokens();
  const left = Math.max(0, Math.ceil((cools - Date.now()) / 1000));
  show(estimate, "[data-warm]", left > 0);
  show(estimate, "[data-cold]", left === 0);
  put(estimate, "[data-clock]", clock(left));
  put(estimate, "[data-share]", String(Math.floor((100 * cached) / whole)));
  put(estimate, "[data-tokens]", String(whole));
  put(estimate, '[data-usd="warm"]', roughly(cost(estimate, whole, cached)));
  put(estimate, '[data-usd="cold"]', roughly(cost(estimate, whole, 0)));
}

function numbers({ dataset }) {
  return { prompt: Number(dataset.prompt), cached: Number(dataset.cached) };
}

function cost({ dataset }, prompt, cached) {
  const { input, hit, answer } = dataset;
  return ((prompt - cached) * Number(input) + cached * Number(hit)) / MILLION + Number(answer);
}

function draftTokens() {
  const text = document.querySelector("form.composer textarea")?.value ?? "";
  return Math.ceil(new TextEncoder().encode(text).length / BYTES_PER_TOKEN);
}

// Two significant digits, as in chat/cost_forecast.py.
function roughly(usd) {
  if (usd >= 1) return `$${usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return usd < 0.000001 ? "<$0.000001" : `$${usd.toPrecision(2)}`;
}

function clock(left) {
  const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

function show(estimate, selector, isShown) {
  const part = estimate.querySelector(selector);
  if (part.hidden === isShown) part.hidden = !isShown;
}

function put(estimate, selector, words) {
  const place = estimate.querySelector(selector);
  if (place && place.textContent !== words) place.textContent = words;
}

document.addEventListener("input", ({ target }) => target.closest("form.composer") && draw());
setInterval(draw, 1000);
draw();
