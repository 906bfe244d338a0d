// The examples of seed 2's OpenAI chapter through the OpenAI client. Argument: the emulator's URL.
import OpenAI from "openai";

const client = new OpenAI({ apiKey: "emulator", baseURL: `${process.argv[2]}/v1beta/openai/`, maxRetries: 0 });
const model = "google/gemini-3-pro-preview";
const declare = (name, argument) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { [argument]: { type: "string" } }, required: [argument] } },
});
const tools = [declare("check_flight", "flight"), declare("book_taxi", "time"), declare("get_current_temperature", "location")];
const user = (content) => ({ role: "user", content });
const answer = (call, response) => ({
  role: "tool",
  name: call.function.name,
  tool_call_id: call.id,
  content: JSON.stringify(response),
});
const say = async (messages) => (await client.chat.completions.create({ model, messages, tools })).choices[0].message;
const signature = (call) => call?.extra_content?.google?.thought_signature ?? "";
const failure = async (action) => {
  try {
    await action();
    return "";
  } catch (error) {
    return `${error.status} ${error.message}`;
  }
};

async function flight() {
  const messages = [user("Check flight status for AA100 and book a taxi 2 hours before if delayed.")];
  const first = await say(messages);
  messages.push(first, answer(first.tool_calls[0], { status: "delayed", departure_time: "12 PM" }));
  const second = await say(messages);
  messages.push(second, answer(second.tool_calls[0], { booking_status: "success" }));
  const last = await say(messages);
  const bare = { ...first, tool_calls: first.tool_calls.map(({ extra_content, ...call }) => call) };
  return {
    calls: [first, second].map((message) => [message.tool_calls[0].function.name, message.tool_calls[0].function.arguments]),
    signed: [first, second].every((message) => signature(message.tool_calls[0])),
    text: last.content,
    refused: await failure(() => say([messages[0], bare, messages[2]])),
  };
}

async function weather() {
  const asked = user("Check the weather in Paris and London.");
  const first = await say([asked]);
  const told = ["15C", "12C"].map((temp, index) => answer(first.tool_calls[index], { temp }));
  const last = await say([asked, first, ...told]);
  return { signed: first.tool_calls.map((call) => Boolean(signature(call))), text: last.content };
}

async function streamed() {
  const chunks = [];
  const asked = { model, messages: [user("hello")], stream: true, stream_options: { include_usage: true } };
  for await (const chunk of await client.chat.completions.create(asked)) chunks.push(chunk);
  return {
    text: chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join(""),
    finish: chunks.at(-1).choices[0].finish_reason,
    signed: Boolean(signature(chunks.at(-1).choices[0].delta)),
    total: chunks.at(-1).usage.total_tokens,
  };
}

const models = await client.models.list();
console.log(
  JSON.stringify({
    flight: await flight(),
    weather: await weather(),
    streamed: await streamed(),
    overloaded: await failure(() => say([user("/error 503")])),
    models: models.data.length,
  }),
);
