// What the JavaScript programs share: the report of their steps, and the answers of the functions that are called.
import { readFileSync } from "node:fs";

export const FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed.";
export const WEATHER = "Check the weather in Paris and London.";
/** Three turns with calls: one after another, two at once, one. */
export const QUESTIONS = [FLIGHT, WEATHER, "Check the weather in London."];
const RULES = Array.from({ length: 700 }, (_, number) => `Rule ${number}: ask before you book anything.`).join(" ");
/** Long enough for an implicit cache. */
export const GUIDE = `Help people with their travels, in short sentences. ${RULES}`;
export const FLASH = "gemini-3-flash-preview";

export const ANSWERS = {
  check_flight: () => ({ status: "delayed", departure_time: "12 PM" }),
  book_taxi: () => ({ booking_status: "success" }),
  get_current_temperature: ({ location }) => ({ temp: { Paris: "15C", London: "12C" }[location] }),
};

/** What the client throws. */
export async function failureOf(action) {
  try {
    await action();
  } catch (error) {
    return { raised: error.constructor.name, code: error.status, message: error.message };
  }
  return { raised: "" };
}

/** Prints what each step found, by its name, as one JSON object; a step that fails stops no other. */
export async function report(steps) {
  const found = {};
  for (const [name, step] of Object.entries(steps)) {
    try {
      found[name] = { result: await step() };
    } catch (error) {
      found[name] = { failure: error.stack };
    }
  }
  const outside = readFileSync(process.env.OUTSIDE, "utf8").split("\n").filter(Boolean);
  console.log(JSON.stringify({ steps: found, outside }));
}
