// The openai client for JavaScript. Argument: the emulator's URL.
import OpenAI from "openai";
import { ANSWERS, FLASH, FLIGHT, WEATHER, failureOf, report } from "./steps.mjs";

const clientWith = (apiKey) => new OpenAI({ apiKey, baseURL: `${process.argv[2]}/v1beta/openai/`, maxRetries: 0 });
const client = clientWith("emulator");
const completions = client.chat.completions;
const model = `google/${FLASH}`;
const declare = (name, argument) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { [argument]: { type: "string" } }, required: [argument] } },
});
const tools = [declare("check_flight", "flight"), declare("book_taxi", "time"), declare("get_current_temperature", "location")];
const user = (content) => ({ role: "user", content });
const answered = ({ id, function: { name, arguments: given } }) => ({
  role: "tool",
  name,
  tool_call_id: id,
  content: JSON.stringify(ANSWERS[name](JSON.parse(given))),
});
const signatureOf = (call) => call.extra_content?.google?.thought_signature ?? "";
const unary = async (messages) => (await completions.create({ model, messages, tools })).choices[0].message;

async function chunksOf(request) {
  const chunks = [];
  for await (const chunk of await completions.create({ model, stream: true, ...request })) chunks.push(chunk);
  return chunks;
}

/** The message that the deltas of a stream add up to. */
async function streamed(messages) {
  const deltas = (await chunksOf({ messages: [...messages], tools })).flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? []).map(({ index, ...call }) => call);
  const content = deltas.map((delta) => delta.content ?? "").join("");
  return { role: "assistant", content, ...(calls.length ? { tool_calls: calls } : {}) };
}

/** Plays rounds of calls until a message has none; signatures go back as they came. */
async function converse(text, ask) {
  const messages = [user(text)];
  const rounds = [];
  let message = await ask(messages);
  while (message.tool_calls) {
    rounds.push(message.tool_calls);
    messages.push(message, ...message.tool_calls.map(answered));
    message = await ask(messages);
  }
  return {
    calls: rounds.flat().map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
    signed: rounds.map((calls) => calls.map((call) => Boolean(signatureOf(call)))),
    text: message.content,
  };
}

await report({
  async text() {
    const answer = await completions.create({ model, messages: [user("hello")] });
    return { text: answer.choices[0].message.content, finish: answer.choices[0].finish_reason, total: answer.usage.total_tokens };
  },
  async stream() {
    const chunks = await chunksOf({ messages: [user("hello")], stream_options: { include_usage: true } });
    const choices = chunks.flatMap((chunk) => chunk.choices);
    return {
      chunks: chunks.length,
      text: choices.map((choice) => choice.delta.content ?? "").join(""),
      finish: choices.at(-1).finish_reason,
      total: chunks.at(-1).usage.total_tokens,
    };
  },
  sequential: () => converse(FLIGHT, unary),
  parallel: () => converse(WEATHER, unary),
  streamed_sequential: () => converse(FLIGHT, streamed),
  streamed_parallel: () => converse(WEATHER, streamed),
  /** What happens to a call whose signature is altered or missing. */
  async signatures() {
    const [{ extra_content, ...call }] = (await unary([user(FLIGHT)])).tool_calls;
    const bytes = Buffer.from(extra_content.google.thought_signature, "base64");
    bytes[bytes.length >> 1] ^= 1;
    const refusal = (extra) => failureOf(() => unary([user(FLIGHT), { role: "assistant", tool_calls: [{ ...call, ...extra }] }, answered(call)]));
    return {
      true: await refusal({ extra_content }),
      altered: await refusal({ extra_content: { google: { thought_signature: bytes.toString("base64") } } }),
      missing: await refusal({}),
    };
  },
  async structured() {
    const properties = { city: { type: "string" }, people: { type: "integer" } };
    const schema = { type: "object", properties, required: ["city", "people"] };
    const response_format = { type: "json_schema", json_schema: { name: "place", schema } };
    const answer = await completions.create({ model, messages: [user("Name a city.")], response_format });
    return JSON.parse(answer.choices[0].message.content);
  },
  errors_of_requests: async () => ({
    "bad key": await failureOf(() => clientWith("invalid").chat.completions.create({ model, messages: [user("hello")] })),
    "lost model": await failureOf(() => completions.create({ model: "gemini-none", messages: [user("hello")] })),
    overloaded: await failureOf(() => unary([user("/error 503")])),
  }),
  async listed_models() {
    const found = [];
    for await (const each of await client.models.list()) found.push(each.id);
    return found;
  },
  retrieved_model: async () => (await client.models.retrieve(FLASH)).id,
  async embeddings() {
    const answer = await client.embeddings.create({ model: "gemini-embedding-001", input: ["hello", "there"] });
    return answer.data.map((each) => each.embedding.length);
  },
});
