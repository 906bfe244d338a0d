// The main scenarios through @google/genai. Argument: the emulator's URL. Prints one JSON object.
import { GoogleGenAI } from "@google/genai";

const baseUrl = process.argv[2];
const client = new GoogleGenAI({ apiKey: "emulator", apiVersion: "v1beta", httpOptions: { baseUrl } });
const model = "gemini-3-flash-preview";
const declare = (name, argument) => ({
  name,
  description: name,
  parameters: { type: "OBJECT", properties: { [argument]: { type: "STRING" } }, required: [argument] },
});
const tools = [
  {
    functionDeclarations: [
      declare("check_flight", "flight"),
      declare("book_taxi", "time"),
      declare("get_current_temperature", "location"),
    ],
  },
];
const user = (text) => ({ role: "user", parts: [{ text }] });
const answer = (...pairs) => ({
  role: "user",
  parts: pairs.map(([name, response]) => ({ functionResponse: { name, response } })),
});
const step = async (contents) => (await client.models.generateContent({ model, contents, config: { tools } })).candidates[0].content;
const calls = (content) => content.parts.filter((part) => part.functionCall);
const failure = async (action) => {
  try {
    await action();
    return "";
  } catch (error) {
    return `${error.status} ${error.message}`;
  }
};

async function streamed() {
  const chunks = [];
  const config = { thinkingConfig: { includeThoughts: true } };
  for await (const chunk of await client.models.generateContentStream({ model, contents: "hello", config })) chunks.push(chunk);
  const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
  return {
    text: parts.filter((part) => !part.thought).map((part) => part.text ?? "").join(""),
    thought: parts.some((part) => part.thought),
    signed: Boolean(parts.at(-1).thoughtSignature) && parts.at(-1).text === "",
    finish: chunks.at(-1).candidates[0].finishReason,
    ids: new Set(chunks.map((chunk) => chunk.responseId)).size,
  };
}

async function flight() {
  const contents = [user("Check flight status for AA100 and book a taxi 2 hours before if delayed.")];
  const first = await step(contents);
  contents.push(first, answer(["check_flight", { status: "delayed", departure_time: "12 PM" }]));
  const second = await step(contents);
  contents.push(second, answer(["book_taxi", { booking_status: "success" }]));
  const last = await step(contents);
  const bare = { ...first, parts: first.parts.map(({ thoughtSignature, ...part }) => part) };
  return {
    calls: [...calls(first), ...calls(second)].map((part) => [part.functionCall.name, part.functionCall.args]),
    signed: [first, second].every((content) => Boolean(content.parts[0].thoughtSignature)),
    text: last.parts[0].text,
    refused: await failure(() => step([contents[0], bare, contents[2]])),
  };
}

async function weather() {
  const asked = user("Check the weather in Paris and London.");
  const first = await step([asked]);
  const temperatures = ["15C", "12C"].map((temp) => ["get_current_temperature", { temp }]);
  const last = await step([asked, first, answer(...temperatures)]);
  return { signed: first.parts.map((part) => Boolean(part.thoughtSignature)), text: last.parts[0].text };
}

async function cached() {
  const made = await client.caches.create({ model, config: { contents: [user("word ".repeat(1000))], ttl: "60s" } });
  const used = await client.models.generateContent({ model, contents: "hello", config: { cachedContent: made.name } });
  await client.caches.update({ name: made.name, config: { ttl: "120s" } });
  await client.caches.delete({ name: made.name });
  const gone = await failure(() => client.caches.get({ name: made.name }));
  return { hit: used.usageMetadata.cachedContentTokenCount === made.usageMetadata.totalTokenCount, gone };
}

async function uploaded() {
  const made = await client.files.upload({ file: new Blob(["hello"], { type: "text/plain" }), config: { displayName: "notes" } });
  const found = await client.files.get({ name: made.name });
  await client.files.delete({ name: made.name });
  return { size: found.sizeBytes, state: found.state, name: found.displayName };
}

const counted = await client.models.countTokens({ model, contents: "hello" });
console.log(
  JSON.stringify({
    streamed: await streamed(),
    flight: await flight(),
    weather: await weather(),
    cached: await cached(),
    uploaded: await uploaded(),
    counted: counted.totalTokens,
    overloaded: await failure(() => client.models.generateContent({ model, contents: "/error 503" })),
    lost: await failure(() => client.models.generateContent({ model: "gemini-none", contents: "hello" })),
  }),
);
