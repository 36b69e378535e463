// Calls an agent by the JavaScript SDK: node client.mjs URL MESSAGE_ID EXTENSION, prints what it was given as JSON lines.
import { SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { ClientFactory, ServiceParameters, withA2AExtensions } from "@a2a-js/sdk/client";

const [url, messageId, extension] = process.argv.slice(2);
const client = await new ClientFactory().createFromUrl(url);
const parts = [{ text: "Show me my open tickets" }, { data: { limit: 12, nested: [1, 2.5, null, true] } }];
const request = (id) =>
  SendMessageRequest.fromJSON({ message: { messageId: id, role: "ROLE_USER", parts, metadata: { accp: true } } });
const serviceParameters = extension ? ServiceParameters.create(withA2AExtensions(extension)) : undefined;
const options = { serviceParameters };
const sent = await client.sendMessage(request(messageId), options);
console.log(JSON.stringify(Task.toJSON(sent.payload?.value ?? sent)));
for await (const event of client.sendMessageStream(request(`${messageId}-stream`), options)) {
  console.log(JSON.stringify(StreamResponse.toJSON(event)));
}
