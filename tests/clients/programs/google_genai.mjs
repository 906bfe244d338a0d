// @google/genai. Argument: the emulator's URL.
import { GoogleGenAI } from "@google/genai";
import { ANSWERS, FLASH, FLIGHT, WEATHER, failureOf, report } from "./steps.mjs";

const clientWith = (apiKey) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: process.argv[2] } });
const client = clientWith("emulator");
const declare = (name, argument) => ({
  name,
  description: name,
  parameters: { type: "OBJECT", properties: { [argument]: { type: "STRING" } }, required: [argument] },
});
const functionDeclarations = [
  declare("check_flight", "flight"),
  declare("book_taxi", "time"),
  declare("get_current_temperature", "location"),
];
const config = { tools: [{ functionDeclarations }] };
const automaticTool = {
  tool: async () => ({ functionDeclarations }),
  callTool: async (calls) => calls.map(responseTo),
};

const user = (text) => ({ role: "user", parts: [{ text }] });
const responseTo = ({ id, name, args }) => ({ functionResponse: { id, name, response: ANSWERS[name](args) } });
const partsOf = (response) => response.candidates?.[0]?.content?.parts ?? [];
const textOf = (parts, thought = false) => parts.filter((part) => Boolean(part.thought) === thought).map((part) => part.text ?? "").join("");
const callsOf = (content) => content.parts.filter((part) => part.functionCall);
const answered = (content) => ({ role: "user", parts: callsOf(content).map((part) => responseTo(part.functionCall)) });
const generate = (contents, wanted = {}) => client.models.generateContent({ model: FLASH, contents, config: wanted });
const unary = async (contents) => (await generate(contents, config)).candidates[0].content;

async function chunksOf(request) {
  const chunks = [];
  for await (const chunk of await client.models.generateContentStream({ model: FLASH, ...request })) chunks.push(chunk);
  return chunks;
}

async function streamed(contents) {
  return { role: "model", parts: (await chunksOf({ contents: [...contents], config })).flatMap(partsOf) };
}

/** Plays rounds of calls until a content has none; signatures go back as they came. */
async function converse(text, ask) {
  const contents = [user(text)];
  const rounds = [];
  let content = await ask(contents);
  while (callsOf(content).length) {
    rounds.push(callsOf(content));
    contents.push(content, answered(content));
    content = await ask(contents);
  }
  return {
    calls: rounds.flat().map((part) => [part.functionCall.name, part.functionCall.args]),
    signed: rounds.map((parts) => parts.map((part) => Boolean(part.thoughtSignature))),
    text: textOf(content.parts),
  };
}

/** A chat whose functions the SDK calls by itself. */
async function automatic(message) {
  const chat = client.chats.create({ model: FLASH, config: { tools: [automaticTool] } });
  const response = await chat.sendMessage({ message });
  const rounds = chat.getHistory().map(callsOf).filter((parts) => parts.length);
  return {
    text: response.text,
    calls: rounds.flat().map((part) => part.functionCall.name),
    signed: rounds.map((parts) => parts.map((part) => Boolean(part.thoughtSignature))),
  };
}

await report({
  async text() {
    const response = await generate("hello");
    const used = response.usageMetadata;
    return {
      text: response.text,
      finish: response.candidates[0].finishReason,
      model: response.modelVersion,
      total: used.totalTokenCount,
      sum: used.promptTokenCount + used.candidatesTokenCount + used.thoughtsTokenCount,
    };
  },
  async stream() {
    const chunks = await chunksOf({ contents: "hello", config: { thinkingConfig: { includeThoughts: true } } });
    const parts = chunks.flatMap(partsOf);
    return {
      chunks: chunks.length,
      text: textOf(parts),
      thought: textOf(parts, true),
      signed: parts.map((part) => Boolean(part.thoughtSignature)),
      finish: chunks.at(-1).candidates[0].finishReason,
      ids: new Set(chunks.map((chunk) => chunk.responseId)).size,
    };
  },
  sequential: () => converse(FLIGHT, unary),
  parallel: () => converse(WEATHER, unary),
  streamed_sequential: () => converse(FLIGHT, streamed),
  streamed_parallel: () => converse(WEATHER, streamed),
  automatic_sequential: () => automatic(FLIGHT),
  automatic_parallel: () => automatic(WEATHER),
  /** The same with a stream; see the known limits in the emulator's README. */
  async automatic_stream() {
    const chat = client.chats.create({ model: FLASH, config: { tools: [automaticTool] } });
    const pieces = [];
    const failure = await failureOf(async () => {
      for await (const chunk of await chat.sendMessageStream({ message: WEATHER })) pieces.push(chunk.text ?? "");
    });
    return { text: pieces.join(""), ...failure };
  },
  async caches() {
    const wanted = { contents: [user("word ".repeat(3000))], ttl: "60s", displayName: "words" };
    const made = await client.caches.create({ model: FLASH, config: wanted });
    const { name } = made;
    const used = await generate("hello", { cachedContent: name });
    const longer = await client.caches.update({ name, config: { ttl: "120s" } });
    const listed = [];
    for await (const cache of await client.caches.list()) listed.push(cache.name);
    await client.caches.delete({ name });
    return {
      made: made.usageMetadata.totalTokenCount,
      hit: used.usageMetadata.cachedContentTokenCount,
      longer: longer.expireTime > made.expireTime,
      listed: listed.includes(name),
      gone: await failureOf(() => client.caches.get({ name })),
      small: await failureOf(() => client.caches.create({ model: FLASH, config: { contents: [user("word")] } })),
    };
  },
  async files() {
    const file = new Blob(["hello"], { type: "text/plain" });
    const { name } = await client.files.upload({ file, config: { displayName: "notes" } });
    const found = await client.files.get({ name });
    const part = { fileData: { fileUri: found.uri, mimeType: found.mimeType } };
    const answer = await generate([{ role: "user", parts: [part, { text: "what is this" }] }]);
    const listed = [];
    for await (const each of await client.files.list()) listed.push(each.name);
    await client.files.delete({ name });
    return {
      size: Number(found.sizeBytes),
      state: found.state,
      display: found.displayName,
      listed: listed.includes(name),
      answered: Boolean(answer.text),
      gone: await failureOf(() => client.files.get({ name })),
    };
  },
  count: async () => ({ tokens: (await client.models.countTokens({ model: FLASH, contents: "hello" })).totalTokens }),
  async structured() {
    const properties = { city: { type: "STRING" }, people: { type: "INTEGER" } };
    const responseSchema = { type: "OBJECT", properties, required: ["city", "people"] };
    return JSON.parse((await generate("Name a city.", { responseMimeType: "application/json", responseSchema })).text);
  },
  async thinking() {
    const thoughts = async (thinkingConfig) => {
      const response = await generate("hello", { thinkingConfig });
      return {
        shown: partsOf(response).some((part) => part.thought),
        tokens: response.usageMetadata.thoughtsTokenCount,
      };
    };
    return {
      shown: await thoughts({ includeThoughts: true }),
      hidden: await thoughts({ includeThoughts: false }),
      low: await thoughts({ thinkingLevel: "LOW" }),
    };
  },
  errors_of_requests: async () => ({
    "bad key": await failureOf(() => clientWith("invalid").models.get({ model: FLASH })),
    "lost model": await failureOf(() => client.models.generateContent({ model: "gemini-none", contents: "hello" })),
    overloaded: await failureOf(() => generate("/error 503")),
  }),
  /** What happens to a call whose signature is altered, missing, or the documented dummy. */
  async signatures() {
    const first = await unary([user(FLIGHT)]);
    const [{ thoughtSignature, ...bare }] = callsOf(first);
    const bytes = Buffer.from(thoughtSignature, "base64");
    bytes[bytes.length >> 1] ^= 1;
    const refusal = (extra) => failureOf(() => unary([user(FLIGHT), { role: "model", parts: [{ ...bare, ...extra }] }, answered(first)]));
    return {
      true: await refusal({ thoughtSignature }),
      altered: await refusal({ thoughtSignature: bytes.toString("base64") }),
      missing: await refusal({}),
      dummy: await refusal({ thoughtSignature: btoa("skip_thought_signature_validator") }),
    };
  },
  async models() {
    const one = await client.models.get({ model: FLASH });
    const listed = [];
    for await (const model of await client.models.list()) listed.push(model.name);
    return { listed, name: one.name, input: one.inputTokenLimit, actions: one.supportedActions };
  },
  async embeddings() {
    const lengths = async (contents) => (await client.models.embedContent({ model: "gemini-embedding-001", contents })).embeddings.map((each) => each.values.length);
    return { one: await lengths("hello"), many: await lengths(["hello", "there"]) };
  },
});
