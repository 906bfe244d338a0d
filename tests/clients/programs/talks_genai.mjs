// Conversations of three questions through @google/genai. Arguments: URL, steps.
import { GoogleGenAI } from "@google/genai";
import { ANSWERS, FLASH, GUIDE, QUESTIONS, report } from "./steps.mjs";

const [base, ...wanted] = process.argv.slice(2);
const client = new GoogleGenAI({ apiKey: "emulator", httpOptions: { baseUrl: base } });
const declare = (name, argument) => ({
  name,
  description: name,
  parameters: { type: "OBJECT", properties: { [argument]: { type: "STRING" } }, required: [argument] },
});
const DECLARATIONS = [declare("check_flight", "flight"), declare("book_taxi", "time"), declare("get_current_temperature", "location")];
const responseTo = ({ id, name, args }) => ({ functionResponse: { id, name, response: ANSWERS[name](args) } });
const configOf = (systemInstruction = GUIDE, functionDeclarations = DECLARATIONS) => ({ systemInstruction, tools: [{ functionDeclarations }] });
const chatOf = (history = []) => client.chats.create({ model: FLASH, config: configOf(), history });

/** The rounds of one question; a configuration of its own takes the place of the chat's. */
async function ask(chat, question, config) {
  let response = await chat.sendMessage({ message: question, config });
  while (response.functionCalls?.length) {
    response = await chat.sendMessage({ message: response.functionCalls.map(responseTo), config });
  }
  return response.text;
}

/** Adds the question, the calls with their results, and the answer. */
async function stream(contents, question) {
  contents.push({ role: "user", parts: [{ text: question }] });
  for (;;) {
    const parts = [];
    const chunks = await client.models.generateContentStream({ model: FLASH, contents: [...contents], config: configOf() });
    for await (const chunk of chunks) parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    contents.push({ role: "model", parts });
    const calls = parts.filter((part) => part.functionCall);
    if (!calls.length) return parts.filter((part) => !part.thought).map((part) => part.text ?? "").join("");
    contents.push({ role: "user", parts: calls.map((part) => responseTo(part.functionCall)) });
  }
}

async function all(chat, configs = []) {
  const told = [];
  for (const [number, question] of QUESTIONS.entries()) told.push(await ask(chat, question, configs[number]));
  return told;
}

const steps = {
  unary: () => all(chatOf()),
  /** The program keeps the contents: a chat would keep each chunk as a content. */
  async streamed() {
    const [contents, told] = [[], []];
    for (const question of QUESTIONS) told.push(await stream(contents, question));
    return told;
  },
  /** The system instruction says what time it is. */
  clock: () => all(chatOf(), [9, 10, 11].map((hour) => configOf(`${GUIDE} The time is ${hour}:00.`))),
  /** The tools of the last question come in another order. */
  reordered: () => all(chatOf(), [undefined, undefined, configOf(GUIDE, DECLARATIONS.toReversed())]),
  /** The last question comes without one of the tools. */
  tool_left: () => all(chatOf(), [undefined, undefined, configOf(GUIDE, DECLARATIONS.slice(1))]),
  /** The history of the first question was kept without its signatures. */
  async unsigned() {
    const first = chatOf();
    const told = [await ask(first, QUESTIONS[0])];
    const bare = ({ thoughtSignature, ...part }) => part;
    const chat = chatOf(first.getHistory().map((content) => ({ ...content, parts: content.parts.map(bare) })));
    for (const question of QUESTIONS.slice(1)) told.push(await ask(chat, question));
    return told;
  },
};

await report(Object.fromEntries(wanted.map((name) => [name, steps[name]])));
