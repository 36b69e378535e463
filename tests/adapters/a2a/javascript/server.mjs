// Serves an agent by the JavaScript SDK over JSON-RPC; prints its URL, then each request that it was sent.
import { createServer } from "node:http";
import { AgentCard, Message, Task } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";

const rows = Array.from({ length: 12 }, (_, n) => ({ id: n, name: `row ${n}`, open: n % 2 === 0 }));
const executor = {
  async execute(context, bus) {
    console.log(JSON.stringify(Message.toJSON(context.userMessage)));
    const artifacts = [{ artifactId: "a", name: "rows", parts: [{ data: { rows } }, { text: "Twelve rows." }] }];
    const status = { state: "TASK_STATE_COMPLETED", timestamp: new Date().toISOString() };
    const task = Task.fromJSON({ id: context.taskId, contextId: context.contextId, status, artifacts });
    task.metadata = { accp: true };
    bus.publish(AgentEvent.task(task));
    bus.finished();
  },
  async cancelTask() {},
};

const body = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
};
let card, rpc;
const server = createServer(async (request, response) => {
  const context = new ServerCallContext({ requestedVersion: request.headers["a2a-version"] ?? "1.0" });
  const answer = request.method === "GET" ? AgentCard.toJSON(card) : await rpc.handle(await body(request), context);
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(answer));
});
server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}/`;
  card = AgentCard.fromJSON({
    name: "rows",
    description: "Gives rows",
    version: "1",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { extensions: process.argv[2] ? [{ uri: process.argv[2] }] : [] },
    defaultInputModes: ["text/plain", "application/json"],
    defaultOutputModes: ["text/plain", "application/json"],
    skills: [{ id: "rows", name: "rows", description: "Gives rows", tags: ["rows"] }],
  });
  rpc = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), executor));
  console.log(url);
});
