// A stand-in for the gateway's HTTP side: it serves the built page under the real content policy, answers the API from what a test
// says, and leaves SDP to `answer`. No media and no model are in it.
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { documents, processes } from './content.mjs'

const web = fileURLToPath(new URL('..', import.meta.url))
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.woff2': 'font/woff2', '.txt': 'text/plain' }

const may = (doc, person) => !doc.only || doc.only.includes(person)

/** The policy the real handler sends, read from its source so that tests run under the same one. */
async function contentPolicy() {
  const source = await readFile(join(web, 'handler.go'), 'utf8')
  const declared = /const policy = ([\s\S]*?)\n\n/.exec(source)?.[1] ?? ''
  return [...declared.matchAll(/"([^"]*)"/g)].map((m) => m[1]).join('')
}

export async function startServer() {
  const policy = await contentPolicy()
  const fake = {
    /** Requests to the API, newest last: {method, path, headers, body}. */
    requests: [],
    /** Set by a test. */
    answer: async () => ({ status: 503, body: JSON.stringify({ error: { code: 'no_answer', message: 'the test gives no answer' } }) }),
    tool: async () => ({ status: 'ok', output: '{"status":"ok"}' }),
    mint: () => null,
    about: {
      version: 'test', audio_path: 'Your voice goes from your browser to this server, and stays on this machine.',
      providers: [{ name: 'local', kind: 'local', where: 'this machine' }], recording: "The words of a call are kept in this server's own database. Audio is not recorded.",
    },
    /** Promises that hold a document's answer back, by id. */
    delays: new Map(),
    outcomes: () => fake.requests.filter((r) => r.path.endsWith('/outcome')),
  }
  let calls = 0
  const server = createServer(async (req, res) => {
    const { pathname } = new URL(req.url, 'http://x')
    const reply = (status, body, headers = {}) => {
      res.writeHead(status, { 'content-type': 'application/json', ...headers })
      res.end(typeof body === 'string' ? body : JSON.stringify(body))
    }
    const refuse = (status, code, message) => reply(status, { error: { type: 'invalid_request_error', code, message, param: null } })
    try {
      if (pathname.startsWith('/v1/') || pathname.startsWith('/demo/')) {
        let body = ''
        for await (const chunk of req) body += chunk
        const request = { method: req.method, path: pathname, headers: req.headers, body, at: performance.now() }
        fake.requests.push(request)
        const person = /^Bearer demo-(alice|bob)$/.exec(req.headers.authorization ?? '')?.[1]
        if (pathname === '/v1/about') return reply(200, fake.about)
        if (pathname === '/v1/realtime/calls') {
          const answer = await fake.answer(body, `call_${++calls}`)
          return reply(answer.status, answer.body, { 'content-type': answer.status === 201 ? 'application/sdp' : 'application/json', location: `/v1/realtime/calls/call_${calls}` })
        }
        if (!person) return refuse(401, 'invalid_api_key', 'no such person')
        if (pathname === '/v1/realtime/client_secrets') {
          const refusal = fake.mint(JSON.parse(body))
          return refusal ? refuse(...refusal) : reply(200, { value: 'ek_test', expires_at: 0, session: { type: 'realtime' } })
        }
        if (pathname.endsWith('/hangup')) return reply(200, {})
        if (pathname === '/v1/tools') return reply(200, { object: 'list', tools: [], effects: { open_document: { class: 'screen', ceiling: 'free' }, get_document: { class: 'read', ceiling: 'free' } } })
        if (pathname === '/v1/tools/calls') {
          const call = JSON.parse(body)
          const result = await fake.tool(call, person)
          return result.error ? refuse(...result.error) : reply(200, { call_id: call.call_id, receipt: 'rcpt_1', ...result })
        }
        if (pathname.endsWith('/outcome')) return reply(200, {})
        if (pathname === '/demo/documents') return reply(200, { documents: documents.filter((d) => may(d, person)).map(({ text, only, ...d }) => d) })
        if (pathname.startsWith('/demo/documents/')) {
          const id = decodeURIComponent(pathname.split('/').pop())
          await fake.delays.get(id)
          const doc = documents.find((d) => d.id === id)
          if (!doc) return refuse(404, 'not_found', 'no such document')
          return may(doc, person) ? reply(200, doc) : refuse(403, 'forbidden', 'not for you')
        }
        if (pathname === '/demo/processes') return reply(200, { processes: processes.map(({ steps, documents: _, ...p }) => p) })
        if (pathname.startsWith('/demo/processes/')) {
          const process = processes.find((p) => p.id === decodeURIComponent(pathname.split('/').pop()))
          return process ? reply(200, process) : refuse(404, 'not_found', 'no such process')
        }
        return refuse(404, 'not_found', 'no such address')
      }
      const file = normalize(pathname === '/' ? '/index.html' : pathname)
      const content = await readFile(join(web, 'dist', file))
      res.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream', 'content-security-policy': policy, 'cache-control': 'no-store' })
      res.end(content)
    } catch {
      res.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  fake.url = `http://127.0.0.1:${server.address().port}`
  fake.port = server.address().port
  fake.close = () => new Promise((resolve) => {
    server.closeAllConnections?.()
    server.close(resolve)
  })
  return fake
}
