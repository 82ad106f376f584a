// Generated from packages/protocol; do not edit. Run: npm run protocol:gen:swift

import Foundation

public let GATEWAY_PROTOCOL_VERSION = 3

/// Any JSON value.
public enum JsonValue: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JsonValue])
    case object([String: JsonValue])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JsonValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JsonValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    public init<Value: Encodable>(encoding value: Value) throws {
        self = try JSONDecoder().decode(JsonValue.self, from: JSONEncoder().encode(value))
    }

    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(self))
    }
}

/// A value that may be null on the wire. Beside `Optional`, because a field that is absent and one that is null differ.
public enum Nullable<Wrapped: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    case null
    case value(Wrapped)

    public var optional: Wrapped? {
        switch self {
        case .null: return nil
        case .value(let wrapped): return wrapped
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Wrapped.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .value(let wrapped): try container.encode(wrapped)
        }
    }
}

// Without these two, the synthesized decoders would read a null as an absent field.
extension KeyedDecodingContainer {
    public func decodeIfPresent<Wrapped>(_ type: Nullable<Wrapped>.Type, forKey key: Key) throws -> Nullable<Wrapped>? {
        contains(key) ? try decode(type, forKey: key) : nil
    }

    public func decodeIfPresent(_ type: JsonValue.Type, forKey key: Key) throws -> JsonValue? {
        contains(key) ? try decode(type, forKey: key) : nil
    }
}

public protocol GatewayMethod {
    associatedtype Params: Codable & Hashable & Sendable
    associatedtype Result: Codable & Hashable & Sendable
    static var name: String { get }
}

extension RequestFrame {
    public init<Method: GatewayMethod>(id: String, _ method: Method.Type, params: Method.Params) throws {
        self.init(id: id, method: Method.name, params: try JsonValue(encoding: params))
    }
}

extension ResponseFrame {
    public func result<Method: GatewayMethod>(of method: Method.Type) throws -> Method.Result {
        try (payload ?? .null).decode(Method.Result.self)
    }
}

public struct AuditRecord: Codable, Hashable, Sendable {
    public let seq: Int
    public let at: Int
    public let actor: String
    public let action: String
    public let target: String
    public let details: JsonValue
    public let hash: String

    public init(
        seq: Int,
        at: Int,
        actor: String,
        action: String,
        target: String,
        details: JsonValue,
        hash: String
    ) {
        self.seq = seq
        self.at = at
        self.actor = actor
        self.action = action
        self.target = target
        self.details = details
        self.hash = hash
    }
}

public struct ClientInfo: Codable, Hashable, Sendable {
    public let id: String
    public let displayName: String?
    public let version: String
    public let platform: String
    public let mode: String
    public let instanceId: String?
    public let deviceFamily: String?
    public let buildId: String?
    public let timeZone: String?

    public init(
        id: String,
        displayName: String? = nil,
        version: String,
        platform: String,
        mode: String,
        instanceId: String? = nil,
        deviceFamily: String? = nil,
        buildId: String? = nil,
        timeZone: String? = nil
    ) {
        self.id = id
        self.displayName = displayName
        self.version = version
        self.platform = platform
        self.mode = mode
        self.instanceId = instanceId
        self.deviceFamily = deviceFamily
        self.buildId = buildId
        self.timeZone = timeZone
    }
}

public struct ConnectParams: Codable, Hashable, Sendable {
    public let minProtocol: Int
    public let maxProtocol: Int
    public let client: ClientInfo
    public let caps: [String]?
    public let role: String?
    public let scopes: [String]?
    public let auth: ConnectParamsAuth?
    public let device: DeviceProof?
    public let resume: ConnectParamsResume?
    public let events: [String]?
    public let locale: String?
    public let userAgent: String?

    public init(
        minProtocol: Int,
        maxProtocol: Int,
        client: ClientInfo,
        caps: [String]? = nil,
        role: String? = nil,
        scopes: [String]? = nil,
        auth: ConnectParamsAuth? = nil,
        device: DeviceProof? = nil,
        resume: ConnectParamsResume? = nil,
        events: [String]? = nil,
        locale: String? = nil,
        userAgent: String? = nil
    ) {
        self.minProtocol = minProtocol
        self.maxProtocol = maxProtocol
        self.client = client
        self.caps = caps
        self.role = role
        self.scopes = scopes
        self.auth = auth
        self.device = device
        self.resume = resume
        self.events = events
        self.locale = locale
        self.userAgent = userAgent
    }
}

public struct ConnectParamsAuth: Codable, Hashable, Sendable {
    public let token: String?

    public init(
        token: String? = nil
    ) {
        self.token = token
    }
}

public struct ConnectParamsResume: Codable, Hashable, Sendable {
    public let epoch: String?
    public let seq: Int

    public init(
        epoch: String? = nil,
        seq: Int
    ) {
        self.epoch = epoch
        self.seq = seq
    }
}

public struct Device: Codable, Hashable, Sendable {
    public let id: String
    public let name: String
    public let platform: String
    public let scopes: ScopeList
    public let approvedAt: Int
    public let approvedBy: String
    public let lastSeenAt: Nullable<Int>
    public let revokedAt: Nullable<Int>

    public init(
        id: String,
        name: String,
        platform: String,
        scopes: ScopeList,
        approvedAt: Int,
        approvedBy: String,
        lastSeenAt: Nullable<Int>,
        revokedAt: Nullable<Int>
    ) {
        self.id = id
        self.name = name
        self.platform = platform
        self.scopes = scopes
        self.approvedAt = approvedAt
        self.approvedBy = approvedBy
        self.lastSeenAt = lastSeenAt
        self.revokedAt = revokedAt
    }
}

public struct DeviceProof: Codable, Hashable, Sendable {
    public let id: String
    public let publicKey: String
    public let signature: String
    public let signedAt: Int
    public let nonce: String

    public init(
        id: String,
        publicKey: String,
        signature: String,
        signedAt: Int,
        nonce: String
    ) {
        self.id = id
        self.publicKey = publicKey
        self.signature = signature
        self.signedAt = signedAt
        self.nonce = nonce
    }
}

public struct ErrorShape: Codable, Hashable, Sendable {
    public let code: ErrorCode
    public let message: String
    public let details: JsonValue?
    public let retryable: Bool?
    public let retryAfterMs: Int?

    public init(
        code: ErrorCode,
        message: String,
        details: JsonValue? = nil,
        retryable: Bool? = nil,
        retryAfterMs: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.retryable = retryable
        self.retryAfterMs = retryAfterMs
    }
}

public struct EventFrame: Codable, Hashable, Sendable {
    public let type: String
    public let event: String
    public let payload: JsonValue?
    public let seq: Int?
    public let stateVersion: StateVersion?
    public let epoch: String?
    public let prev: Int?

    public init(
        type: String = "event",
        event: String,
        payload: JsonValue? = nil,
        seq: Int? = nil,
        stateVersion: StateVersion? = nil,
        epoch: String? = nil,
        prev: Int? = nil
    ) {
        self.type = type
        self.event = event
        self.payload = payload
        self.seq = seq
        self.stateVersion = stateVersion
        self.epoch = epoch
        self.prev = prev
    }
}

public struct Finding: Codable, Hashable, Sendable {
    public let check: String
    public let severity: FindingSeverity
    public let message: String
    public let remedy: String?
    public let fixable: Bool?
    public let fixed: Bool?

    public init(
        check: String,
        severity: FindingSeverity,
        message: String,
        remedy: String? = nil,
        fixable: Bool? = nil,
        fixed: Bool? = nil
    ) {
        self.check = check
        self.severity = severity
        self.message = message
        self.remedy = remedy
        self.fixable = fixable
        self.fixed = fixed
    }
}

public enum FindingSeverity: RawRepresentable, Codable, Hashable, Sendable {
    case ok
    case info
    case warning
    case error
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [FindingSeverity] = [.ok, .info, .warning, .error]

    public init(rawValue: String) {
        switch rawValue {
        case "ok": self = .ok
        case "info": self = .info
        case "warning": self = .warning
        case "error": self = .error
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .ok: return "ok"
        case .info: return "info"
        case .warning: return "warning"
        case .error: return "error"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum GatewayFrame: Codable, Hashable, Sendable {
    case req(RequestFrame)
    case res(ResponseFrame)
    case event(EventFrame)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "req": self = .req(try RequestFrame(from: decoder))
        case "res": self = .res(try ResponseFrame(from: decoder))
        case "event": self = .event(try EventFrame(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .req(let frame): try frame.encode(to: encoder)
        case .res(let frame): try frame.encode(to: encoder)
        case .event(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct Health: Codable, Hashable, Sendable {
    public let ok: Bool?
    public let ts: Int?
    public let uptimeMs: Int?
    public let problems: [HealthProblemsItem]?

    public init(
        ok: Bool? = nil,
        ts: Int? = nil,
        uptimeMs: Int? = nil,
        problems: [HealthProblemsItem]? = nil
    ) {
        self.ok = ok
        self.ts = ts
        self.uptimeMs = uptimeMs
        self.problems = problems
    }
}

public struct HealthProblemsItem: Codable, Hashable, Sendable {
    public let part: String
    public let reason: String
    public let since: Int

    public init(
        part: String,
        reason: String,
        since: Int
    ) {
        self.part = part
        self.reason = reason
        self.since = since
    }
}

public struct HelloOk: Codable, Hashable, Sendable {
    public let type: String
    public let protocol_: Int
    public let server: HelloOkServer
    public let features: HelloOkFeatures
    public let snapshot: HelloOkSnapshot
    public let policy: HelloOkPolicy
    public let auth: HelloOkAuth?
    public let events: HelloOkEvents?

    public init(
        type: String = "hello-ok",
        protocol_: Int,
        server: HelloOkServer,
        features: HelloOkFeatures,
        snapshot: HelloOkSnapshot,
        policy: HelloOkPolicy,
        auth: HelloOkAuth? = nil,
        events: HelloOkEvents? = nil
    ) {
        self.type = type
        self.protocol_ = protocol_
        self.server = server
        self.features = features
        self.snapshot = snapshot
        self.policy = policy
        self.auth = auth
        self.events = events
    }

    enum CodingKeys: String, CodingKey {
        case type = "type"
        case protocol_ = "protocol"
        case server = "server"
        case features = "features"
        case snapshot = "snapshot"
        case policy = "policy"
        case auth = "auth"
        case events = "events"
    }
}

public struct HelloOkServer: Codable, Hashable, Sendable {
    public let version: String
    public let connId: String
    public let bootId: String?

    public init(
        version: String,
        connId: String,
        bootId: String? = nil
    ) {
        self.version = version
        self.connId = connId
        self.bootId = bootId
    }
}

public struct HelloOkFeatures: Codable, Hashable, Sendable {
    public let methods: [String]
    public let events: [String]
    public let capabilities: [String]?

    public init(
        methods: [String],
        events: [String],
        capabilities: [String]? = nil
    ) {
        self.methods = methods
        self.events = events
        self.capabilities = capabilities
    }
}

public struct HelloOkSnapshot: Codable, Hashable, Sendable {
    public let presence: [PresenceEntry]
    public let health: Health
    public let stateVersion: StateVersion
    public let uptimeMs: Int

    public init(
        presence: [PresenceEntry],
        health: Health,
        stateVersion: StateVersion,
        uptimeMs: Int
    ) {
        self.presence = presence
        self.health = health
        self.stateVersion = stateVersion
        self.uptimeMs = uptimeMs
    }
}

public struct HelloOkPolicy: Codable, Hashable, Sendable {
    public let maxPayload: Int
    public let maxBufferedBytes: Int
    public let tickIntervalMs: Int
    public let maxInFlight: Int?
    public let maxInFlightBytes: Int?

    public init(
        maxPayload: Int,
        maxBufferedBytes: Int,
        tickIntervalMs: Int,
        maxInFlight: Int? = nil,
        maxInFlightBytes: Int? = nil
    ) {
        self.maxPayload = maxPayload
        self.maxBufferedBytes = maxBufferedBytes
        self.tickIntervalMs = tickIntervalMs
        self.maxInFlight = maxInFlight
        self.maxInFlightBytes = maxInFlightBytes
    }
}

public struct HelloOkAuth: Codable, Hashable, Sendable {
    public let method: HelloOkAuthMethod
    public let principal: String
    public let scopes: ScopeList
    public let sessionKey: SessionKey?

    public init(
        method: HelloOkAuthMethod,
        principal: String,
        scopes: ScopeList,
        sessionKey: SessionKey? = nil
    ) {
        self.method = method
        self.principal = principal
        self.scopes = scopes
        self.sessionKey = sessionKey
    }
}

public enum HelloOkAuthMethod: RawRepresentable, Codable, Hashable, Sendable {
    case token
    case device
    case none
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [HelloOkAuthMethod] = [.token, .device, .none]

    public init(rawValue: String) {
        switch rawValue {
        case "token": self = .token
        case "device": self = .device
        case "none": self = .none
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .token: return "token"
        case .device: return "device"
        case .none: return "none"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct HelloOkEvents: Codable, Hashable, Sendable {
    public let epoch: String
    public let seq: Int

    public init(
        epoch: String,
        seq: Int
    ) {
        self.epoch = epoch
        self.seq = seq
    }
}

public enum LogLevel: RawRepresentable, Codable, Hashable, Sendable {
    case trace
    case debug
    case info
    case warn
    case error
    case fatal
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [LogLevel] = [.trace, .debug, .info, .warn, .error, .fatal]

    public init(rawValue: String) {
        switch rawValue {
        case "trace": self = .trace
        case "debug": self = .debug
        case "info": self = .info
        case "warn": self = .warn
        case "error": self = .error
        case "fatal": self = .fatal
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .trace: return "trace"
        case .debug: return "debug"
        case .info: return "info"
        case .warn: return "warn"
        case .error: return "error"
        case .fatal: return "fatal"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct LogRecord: Codable, Hashable, Sendable {
    public let cursor: Int
    public let time: Int
    public let level: LogLevel
    public let message: String
    public let fields: JsonValue?

    public init(
        cursor: Int,
        time: Int,
        level: LogLevel,
        message: String,
        fields: JsonValue? = nil
    ) {
        self.cursor = cursor
        self.time = time
        self.level = level
        self.message = message
        self.fields = fields
    }
}

public struct PairingRequest: Codable, Hashable, Sendable {
    public let requestId: String
    public let deviceId: String
    public let name: String
    public let platform: String
    public let scopes: ScopeList
    public let address: String
    public let requestedAt: Int
    public let expiresAt: Int

    public init(
        requestId: String,
        deviceId: String,
        name: String,
        platform: String,
        scopes: ScopeList,
        address: String,
        requestedAt: Int,
        expiresAt: Int
    ) {
        self.requestId = requestId
        self.deviceId = deviceId
        self.name = name
        self.platform = platform
        self.scopes = scopes
        self.address = address
        self.requestedAt = requestedAt
        self.expiresAt = expiresAt
    }
}

public struct PresenceEntry: Codable, Hashable, Sendable {
    public let connId: String
    public let client: ClientInfo
    public let principal: String
    public let scopes: ScopeList
    public let connectedAt: Int

    public init(
        connId: String,
        client: ClientInfo,
        principal: String,
        scopes: ScopeList,
        connectedAt: Int
    ) {
        self.connId = connId
        self.client = client
        self.principal = principal
        self.scopes = scopes
        self.connectedAt = connectedAt
    }
}

public struct RequestFrame: Codable, Hashable, Sendable {
    public let type: String
    public let id: String
    public let method: String
    public let params: JsonValue?
    public let traceparent: String?

    public init(
        type: String = "req",
        id: String,
        method: String,
        params: JsonValue? = nil,
        traceparent: String? = nil
    ) {
        self.type = type
        self.id = id
        self.method = method
        self.params = params
        self.traceparent = traceparent
    }
}

public struct ResponseFrame: Codable, Hashable, Sendable {
    public let type: String
    public let id: String
    public let ok: Bool
    public let payload: JsonValue?
    public let error: ErrorShape?

    public init(
        type: String = "res",
        id: String,
        ok: Bool,
        payload: JsonValue? = nil,
        error: ErrorShape? = nil
    ) {
        self.type = type
        self.id = id
        self.ok = ok
        self.payload = payload
        self.error = error
    }
}

public typealias ScopeList = [Scope]

public struct Session: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let sessionId: String
    public let agentId: String
    public let title: String
    public let label: Nullable<String>
    public let pinned: Bool
    public let archived: Bool
    public let revision: Int
    public let createdAt: Int
    public let updatedAt: Int

    public init(
        key: SessionKey,
        sessionId: String,
        agentId: String,
        title: String,
        label: Nullable<String>,
        pinned: Bool,
        archived: Bool,
        revision: Int,
        createdAt: Int,
        updatedAt: Int
    ) {
        self.key = key
        self.sessionId = sessionId
        self.agentId = agentId
        self.title = title
        self.label = label
        self.pinned = pinned
        self.archived = archived
        self.revision = revision
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

public typealias SessionKey = String

public struct StateVersion: Codable, Hashable, Sendable {
    public let presence: Int
    public let health: Int

    public init(
        presence: Int,
        health: Int
    ) {
        self.presence = presence
        self.health = health
    }
}

public struct Status: Codable, Hashable, Sendable {
    public let version: String
    public let protocol_: Int
    public let pid: Int
    public let url: String
    public let startedAt: Int
    public let uptimeMs: Int
    public let auth: String
    public let store: StatusStore
    public let events: StatusEvents
    public let connections: Int
    public let memory: StatusMemory
    public let health: Health
    public let warnings: [String]

    public init(
        version: String,
        protocol_: Int,
        pid: Int,
        url: String,
        startedAt: Int,
        uptimeMs: Int,
        auth: String,
        store: StatusStore,
        events: StatusEvents,
        connections: Int,
        memory: StatusMemory,
        health: Health,
        warnings: [String]
    ) {
        self.version = version
        self.protocol_ = protocol_
        self.pid = pid
        self.url = url
        self.startedAt = startedAt
        self.uptimeMs = uptimeMs
        self.auth = auth
        self.store = store
        self.events = events
        self.connections = connections
        self.memory = memory
        self.health = health
        self.warnings = warnings
    }

    enum CodingKeys: String, CodingKey {
        case version = "version"
        case protocol_ = "protocol"
        case pid = "pid"
        case url = "url"
        case startedAt = "startedAt"
        case uptimeMs = "uptimeMs"
        case auth = "auth"
        case store = "store"
        case events = "events"
        case connections = "connections"
        case memory = "memory"
        case health = "health"
        case warnings = "warnings"
    }
}

public struct StatusStore: Codable, Hashable, Sendable {
    public let engine: String
    public let location: String
    public let schemaVersion: Int

    public init(
        engine: String,
        location: String,
        schemaVersion: Int
    ) {
        self.engine = engine
        self.location = location
        self.schemaVersion = schemaVersion
    }
}

public struct StatusEvents: Codable, Hashable, Sendable {
    public let epoch: String
    public let seq: Int

    public init(
        epoch: String,
        seq: Int
    ) {
        self.epoch = epoch
        self.seq = seq
    }
}

public struct StatusMemory: Codable, Hashable, Sendable {
    public let residentBytes: Int
    public let heapBytes: Int

    public init(
        residentBytes: Int,
        heapBytes: Int
    ) {
        self.residentBytes = residentBytes
        self.heapBytes = heapBytes
    }
}

public struct Token: Codable, Hashable, Sendable {
    public let id: String
    public let name: String
    public let scopes: ScopeList
    public let sessionKey: Nullable<SessionKey>
    public let createdAt: Int
    public let expiresAt: Nullable<Int>
    public let revokedAt: Nullable<Int>
    public let lastUsedAt: Nullable<Int>

    public init(
        id: String,
        name: String,
        scopes: ScopeList,
        sessionKey: Nullable<SessionKey>,
        createdAt: Int,
        expiresAt: Nullable<Int>,
        revokedAt: Nullable<Int>,
        lastUsedAt: Nullable<Int>
    ) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.sessionKey = sessionKey
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.lastUsedAt = lastUsedAt
    }
}

public enum ErrorCode: RawRepresentable, Codable, Hashable, Sendable {
    case parse
    case invalidRequest
    case unknownMethod
    case protocolMismatch
    case unauthorized
    case notPaired
    case scope
    case forbiddenOrigin
    case notFound
    case conflict
    case idempotencyConflict
    case tooLarge
    case rateLimited
    case unavailable
    case storage
    case internal_
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ErrorCode] = [.parse, .invalidRequest, .unknownMethod, .protocolMismatch, .unauthorized, .notPaired, .scope, .forbiddenOrigin, .notFound, .conflict, .idempotencyConflict, .tooLarge, .rateLimited, .unavailable, .storage, .internal_]

    public init(rawValue: String) {
        switch rawValue {
        case "PARSE": self = .parse
        case "INVALID_REQUEST": self = .invalidRequest
        case "UNKNOWN_METHOD": self = .unknownMethod
        case "PROTOCOL_MISMATCH": self = .protocolMismatch
        case "UNAUTHORIZED": self = .unauthorized
        case "NOT_PAIRED": self = .notPaired
        case "SCOPE": self = .scope
        case "FORBIDDEN_ORIGIN": self = .forbiddenOrigin
        case "NOT_FOUND": self = .notFound
        case "CONFLICT": self = .conflict
        case "IDEMPOTENCY_CONFLICT": self = .idempotencyConflict
        case "TOO_LARGE": self = .tooLarge
        case "RATE_LIMITED": self = .rateLimited
        case "UNAVAILABLE": self = .unavailable
        case "STORAGE": self = .storage
        case "INTERNAL": self = .internal_
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .parse: return "PARSE"
        case .invalidRequest: return "INVALID_REQUEST"
        case .unknownMethod: return "UNKNOWN_METHOD"
        case .protocolMismatch: return "PROTOCOL_MISMATCH"
        case .unauthorized: return "UNAUTHORIZED"
        case .notPaired: return "NOT_PAIRED"
        case .scope: return "SCOPE"
        case .forbiddenOrigin: return "FORBIDDEN_ORIGIN"
        case .notFound: return "NOT_FOUND"
        case .conflict: return "CONFLICT"
        case .idempotencyConflict: return "IDEMPOTENCY_CONFLICT"
        case .tooLarge: return "TOO_LARGE"
        case .rateLimited: return "RATE_LIMITED"
        case .unavailable: return "UNAVAILABLE"
        case .storage: return "STORAGE"
        case .internal_: return "INTERNAL"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum Scope: RawRepresentable, Codable, Hashable, Sendable {
    case operatorRead
    case operatorWrite
    case operatorApprovals
    case operatorPairing
    case operatorAdmin
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [Scope] = [.operatorRead, .operatorWrite, .operatorApprovals, .operatorPairing, .operatorAdmin]

    public init(rawValue: String) {
        switch rawValue {
        case "operator.read": self = .operatorRead
        case "operator.write": self = .operatorWrite
        case "operator.approvals": self = .operatorApprovals
        case "operator.pairing": self = .operatorPairing
        case "operator.admin": self = .operatorAdmin
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .operatorRead: return "operator.read"
        case .operatorWrite: return "operator.write"
        case .operatorApprovals: return "operator.approvals"
        case .operatorPairing: return "operator.pairing"
        case .operatorAdmin: return "operator.admin"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `health`: Is the gateway well?
public struct HealthParams: Codable, Hashable, Sendable {
    public init() {}
}

public typealias HealthResult = Health

/// `status`: What the gateway is and how it does.
public struct StatusParams: Codable, Hashable, Sendable {
    public init() {}
}

public typealias StatusResult = Status

/// `system.echo`: Say the text back.
public struct SystemEchoParams: Codable, Hashable, Sendable {
    public let text: String

    public init(
        text: String
    ) {
        self.text = text
    }
}

public struct SystemEchoResult: Codable, Hashable, Sendable {
    public let ok: Bool
    public let text: String

    public init(
        ok: Bool,
        text: String
    ) {
        self.ok = ok
        self.text = text
    }
}

/// `presence.list`: Who is connected.
public struct PresenceListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct PresenceListResult: Codable, Hashable, Sendable {
    public let presence: [PresenceEntry]

    public init(
        presence: [PresenceEntry]
    ) {
        self.presence = presence
    }
}

/// `events.subscribe`: Receive these events on this connection. A connection starts with all that its scopes allow.
public struct EventsSubscribeParams: Codable, Hashable, Sendable {
    public let events: [String]

    public init(
        events: [String]
    ) {
        self.events = events
    }
}

public struct EventsSubscribeResult: Codable, Hashable, Sendable {
    public let events: [String]

    public init(
        events: [String]
    ) {
        self.events = events
    }
}

/// `events.unsubscribe`: Receive these events no longer on this connection.
public struct EventsUnsubscribeParams: Codable, Hashable, Sendable {
    public let events: [String]

    public init(
        events: [String]
    ) {
        self.events = events
    }
}

public struct EventsUnsubscribeResult: Codable, Hashable, Sendable {
    public let events: [String]

    public init(
        events: [String]
    ) {
        self.events = events
    }
}

/// `config.get`: Read the settings with where each comes from. Secrets are redacted.
public struct ConfigGetParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct ConfigGetResult: Codable, Hashable, Sendable {
    public let file: String
    public let settings: [String: ConfigGetResultSettingsValue]
    public let restartNeeded: [String]

    public init(
        file: String,
        settings: [String: ConfigGetResultSettingsValue],
        restartNeeded: [String]
    ) {
        self.file = file
        self.settings = settings
        self.restartNeeded = restartNeeded
    }
}

public struct ConfigGetResultSettingsValue: Codable, Hashable, Sendable {
    public let value: JsonValue
    public let source: ConfigGetResultSettingsValueSource
    public let takesEffect: ConfigGetResultSettingsValueTakesEffect
    public let summary: String

    public init(
        value: JsonValue,
        source: ConfigGetResultSettingsValueSource,
        takesEffect: ConfigGetResultSettingsValueTakesEffect,
        summary: String
    ) {
        self.value = value
        self.source = source
        self.takesEffect = takesEffect
        self.summary = summary
    }
}

public enum ConfigGetResultSettingsValueSource: RawRepresentable, Codable, Hashable, Sendable {
    case default_
    case file
    case environment
    case flag
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ConfigGetResultSettingsValueSource] = [.default_, .file, .environment, .flag]

    public init(rawValue: String) {
        switch rawValue {
        case "default": self = .default_
        case "file": self = .file
        case "environment": self = .environment
        case "flag": self = .flag
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .default_: return "default"
        case .file: return "file"
        case .environment: return "environment"
        case .flag: return "flag"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum ConfigGetResultSettingsValueTakesEffect: RawRepresentable, Codable, Hashable, Sendable {
    case now
    case restart
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ConfigGetResultSettingsValueTakesEffect] = [.now, .restart]

    public init(rawValue: String) {
        switch rawValue {
        case "now": self = .now
        case "restart": self = .restart
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .now: return "now"
        case .restart: return "restart"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `config.patch`: Change settings in tenon.toml; null returns one to its default. Checked whole before anything is written.
public struct ConfigPatchParams: Codable, Hashable, Sendable {
    public let set: [String: JsonValue]
    public let idempotencyKey: String?

    public init(
        set: [String: JsonValue],
        idempotencyKey: String? = nil
    ) {
        self.set = set
        self.idempotencyKey = idempotencyKey
    }
}

public struct ConfigPatchResult: Codable, Hashable, Sendable {
    public let file: String
    public let settings: [String: ConfigPatchResultSettingsValue]
    public let restartNeeded: [String]

    public init(
        file: String,
        settings: [String: ConfigPatchResultSettingsValue],
        restartNeeded: [String]
    ) {
        self.file = file
        self.settings = settings
        self.restartNeeded = restartNeeded
    }
}

public struct ConfigPatchResultSettingsValue: Codable, Hashable, Sendable {
    public let value: JsonValue
    public let source: ConfigPatchResultSettingsValueSource
    public let takesEffect: ConfigPatchResultSettingsValueTakesEffect
    public let summary: String

    public init(
        value: JsonValue,
        source: ConfigPatchResultSettingsValueSource,
        takesEffect: ConfigPatchResultSettingsValueTakesEffect,
        summary: String
    ) {
        self.value = value
        self.source = source
        self.takesEffect = takesEffect
        self.summary = summary
    }
}

public enum ConfigPatchResultSettingsValueSource: RawRepresentable, Codable, Hashable, Sendable {
    case default_
    case file
    case environment
    case flag
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ConfigPatchResultSettingsValueSource] = [.default_, .file, .environment, .flag]

    public init(rawValue: String) {
        switch rawValue {
        case "default": self = .default_
        case "file": self = .file
        case "environment": self = .environment
        case "flag": self = .flag
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .default_: return "default"
        case .file: return "file"
        case .environment: return "environment"
        case .flag: return "flag"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum ConfigPatchResultSettingsValueTakesEffect: RawRepresentable, Codable, Hashable, Sendable {
    case now
    case restart
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ConfigPatchResultSettingsValueTakesEffect] = [.now, .restart]

    public init(rawValue: String) {
        switch rawValue {
        case "now": self = .now
        case "restart": self = .restart
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .now: return "now"
        case .restart: return "restart"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `logs.tail`: Read log records after a cursor, oldest first.
public struct LogsTailParams: Codable, Hashable, Sendable {
    public let after: Int?
    public let limit: Int?
    public let level: LogLevel?

    public init(
        after: Int? = nil,
        limit: Int? = nil,
        level: LogLevel? = nil
    ) {
        self.after = after
        self.limit = limit
        self.level = level
    }
}

public struct LogsTailResult: Codable, Hashable, Sendable {
    public let records: [LogRecord]
    public let cursor: Int
    public let dropped: Int

    public init(
        records: [LogRecord],
        cursor: Int,
        dropped: Int
    ) {
        self.records = records
        self.cursor = cursor
        self.dropped = dropped
    }
}

/// `audit.list`: Read audit records, newest first, with the state of their hash chain.
public struct AuditListParams: Codable, Hashable, Sendable {
    public let before: Int?
    public let limit: Int?

    public init(
        before: Int? = nil,
        limit: Int? = nil
    ) {
        self.before = before
        self.limit = limit
    }
}

public struct AuditListResult: Codable, Hashable, Sendable {
    public let records: [AuditRecord]
    public let chain: AuditListResultChain

    public init(
        records: [AuditRecord],
        chain: AuditListResultChain
    ) {
        self.records = records
        self.chain = chain
    }
}

public struct AuditListResultChain: Codable, Hashable, Sendable {
    public let ok: Bool
    public let checked: Int
    public let reason: String?

    public init(
        ok: Bool,
        checked: Int,
        reason: String? = nil
    ) {
        self.ok = ok
        self.checked = checked
        self.reason = reason
    }
}

/// `doctor.run`: Check the installation; with `fix`, mend what can be mended safely.
public struct DoctorRunParams: Codable, Hashable, Sendable {
    public let fix: Bool?
    public let idempotencyKey: String?

    public init(
        fix: Bool? = nil,
        idempotencyKey: String? = nil
    ) {
        self.fix = fix
        self.idempotencyKey = idempotencyKey
    }
}

public struct DoctorRunResult: Codable, Hashable, Sendable {
    public let ok: Bool
    public let findings: [Finding]

    public init(
        ok: Bool,
        findings: [Finding]
    ) {
        self.ok = ok
        self.findings = findings
    }
}

/// `gateway.shutdown`: Drain and stop the gateway.
public struct GatewayShutdownParams: Codable, Hashable, Sendable {
    public let reason: String?
    public let idempotencyKey: String?

    public init(
        reason: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.reason = reason
        self.idempotencyKey = idempotencyKey
    }
}

public struct GatewayShutdownResult: Codable, Hashable, Sendable {
    public let stopping: Bool

    public init(
        stopping: Bool = true
    ) {
        self.stopping = stopping
    }
}

/// `sessions.list`: List sessions, latest change first, a page at a time; with `search`, newest first.
public struct SessionsListParams: Codable, Hashable, Sendable {
    public let limit: Int?
    public let cursor: String?
    public let agentId: String?
    public let label: String?
    public let archived: Bool?
    public let search: String?

    public init(
        limit: Int? = nil,
        cursor: String? = nil,
        agentId: String? = nil,
        label: String? = nil,
        archived: Bool? = nil,
        search: String? = nil
    ) {
        self.limit = limit
        self.cursor = cursor
        self.agentId = agentId
        self.label = label
        self.archived = archived
        self.search = search
    }
}

public struct SessionsListResult: Codable, Hashable, Sendable {
    public let sessions: [Session]
    public let nextCursor: String?

    public init(
        sessions: [Session],
        nextCursor: String? = nil
    ) {
        self.sessions = sessions
        self.nextCursor = nextCursor
    }
}

/// `sessions.get`: Read one session.
public struct SessionsGetParams: Codable, Hashable, Sendable {
    public let key: SessionKey

    public init(
        key: SessionKey
    ) {
        self.key = key
    }
}

public struct SessionsGetResult: Codable, Hashable, Sendable {
    public let session: Session

    public init(
        session: Session
    ) {
        self.session = session
    }
}

/// `sessions.create`: Create a session. Without a key, a random one under the agent.
public struct SessionsCreateParams: Codable, Hashable, Sendable {
    public let key: SessionKey?
    public let agentId: String?
    public let title: String?
    public let label: Nullable<String>?
    public let pinned: Bool?
    public let archived: Bool?
    public let idempotencyKey: String?

    public init(
        key: SessionKey? = nil,
        agentId: String? = nil,
        title: String? = nil,
        label: Nullable<String>? = nil,
        pinned: Bool? = nil,
        archived: Bool? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.agentId = agentId
        self.title = title
        self.label = label
        self.pinned = pinned
        self.archived = archived
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsCreateResult: Codable, Hashable, Sendable {
    public let session: Session

    public init(
        session: Session
    ) {
        self.session = session
    }
}

/// `sessions.patch`: Change fields of a session; with `ifRevision`, only if nobody changed it meanwhile.
public struct SessionsPatchParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let title: String?
    public let label: Nullable<String>?
    public let pinned: Bool?
    public let archived: Bool?
    public let ifRevision: Int?
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        title: String? = nil,
        label: Nullable<String>? = nil,
        pinned: Bool? = nil,
        archived: Bool? = nil,
        ifRevision: Int? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.title = title
        self.label = label
        self.pinned = pinned
        self.archived = archived
        self.ifRevision = ifRevision
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsPatchResult: Codable, Hashable, Sendable {
    public let session: Session

    public init(
        session: Session
    ) {
        self.session = session
    }
}

/// `sessions.reset`: Start the session afresh: a new session id, the same key and settings.
public struct SessionsResetParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsResetResult: Codable, Hashable, Sendable {
    public let session: Session

    public init(
        session: Session
    ) {
        self.session = session
    }
}

/// `sessions.delete`: Delete a session and all that belongs to it.
public struct SessionsDeleteParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsDeleteResult: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let deleted: Bool

    public init(
        key: SessionKey,
        deleted: Bool = true
    ) {
        self.key = key
        self.deleted = deleted
    }
}

/// `tokens.create`: Make a token with at most the scopes of the caller. The secret is in this answer only.
public struct TokensCreateParams: Codable, Hashable, Sendable {
    public let name: String
    public let scopes: ScopeList
    public let sessionKey: SessionKey?
    public let expiresAt: Int?
    public let idempotencyKey: String?

    public init(
        name: String,
        scopes: ScopeList,
        sessionKey: SessionKey? = nil,
        expiresAt: Int? = nil,
        idempotencyKey: String? = nil
    ) {
        self.name = name
        self.scopes = scopes
        self.sessionKey = sessionKey
        self.expiresAt = expiresAt
        self.idempotencyKey = idempotencyKey
    }
}

public struct TokensCreateResult: Codable, Hashable, Sendable {
    public let token: String
    public let record: Token

    public init(
        token: String,
        record: Token
    ) {
        self.token = token
        self.record = record
    }
}

/// `tokens.rotate`: Give a token a new secret; sockets that use the old one are closed.
public struct TokensRotateParams: Codable, Hashable, Sendable {
    public let id: String
    public let idempotencyKey: String?

    public init(
        id: String,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct TokensRotateResult: Codable, Hashable, Sendable {
    public let token: String
    public let record: Token

    public init(
        token: String,
        record: Token
    ) {
        self.token = token
        self.record = record
    }
}

/// `tokens.revoke`: Revoke a token and close every socket that uses it.
public struct TokensRevokeParams: Codable, Hashable, Sendable {
    public let id: String
    public let idempotencyKey: String?

    public init(
        id: String,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct TokensRevokeResult: Codable, Hashable, Sendable {
    public let record: Token

    public init(
        record: Token
    ) {
        self.record = record
    }
}

/// `tokens.list`: List tokens, newest first, without their secrets.
public struct TokensListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct TokensListResult: Codable, Hashable, Sendable {
    public let tokens: [Token]

    public init(
        tokens: [Token]
    ) {
        self.tokens = tokens
    }
}

/// `device.pair.list`: List the pairing requests that wait for an answer.
public struct DevicePairListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct DevicePairListResult: Codable, Hashable, Sendable {
    public let requests: [PairingRequest]

    public init(
        requests: [PairingRequest]
    ) {
        self.requests = requests
    }
}

/// `device.pair.approve`: Let a device in, with the scopes it asked for or fewer, never more than the caller holds.
public struct DevicePairApproveParams: Codable, Hashable, Sendable {
    public let requestId: String
    public let scopes: ScopeList?
    public let name: String?
    public let idempotencyKey: String?

    public init(
        requestId: String,
        scopes: ScopeList? = nil,
        name: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.requestId = requestId
        self.scopes = scopes
        self.name = name
        self.idempotencyKey = idempotencyKey
    }
}

public struct DevicePairApproveResult: Codable, Hashable, Sendable {
    public let device: Device

    public init(
        device: Device
    ) {
        self.device = device
    }
}

/// `device.pair.reject`: Turn a pairing request down.
public struct DevicePairRejectParams: Codable, Hashable, Sendable {
    public let requestId: String
    public let idempotencyKey: String?

    public init(
        requestId: String,
        idempotencyKey: String? = nil
    ) {
        self.requestId = requestId
        self.idempotencyKey = idempotencyKey
    }
}

public struct DevicePairRejectResult: Codable, Hashable, Sendable {
    public let requestId: String
    public let rejected: Bool

    public init(
        requestId: String,
        rejected: Bool = true
    ) {
        self.requestId = requestId
        self.rejected = rejected
    }
}

/// `device.list`: List paired devices, latest first.
public struct DeviceListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct DeviceListResult: Codable, Hashable, Sendable {
    public let devices: [Device]

    public init(
        devices: [Device]
    ) {
        self.devices = devices
    }
}

/// `device.rename`: Change the name of a device.
public struct DeviceRenameParams: Codable, Hashable, Sendable {
    public let id: String
    public let name: String
    public let idempotencyKey: String?

    public init(
        id: String,
        name: String,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.name = name
        self.idempotencyKey = idempotencyKey
    }
}

public struct DeviceRenameResult: Codable, Hashable, Sendable {
    public let device: Device

    public init(
        device: Device
    ) {
        self.device = device
    }
}

/// `device.revoke`: Revoke a device and close its sockets.
public struct DeviceRevokeParams: Codable, Hashable, Sendable {
    public let id: String
    public let idempotencyKey: String?

    public init(
        id: String,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct DeviceRevokeResult: Codable, Hashable, Sendable {
    public let device: Device

    public init(
        device: Device
    ) {
        self.device = device
    }
}

/// `connect.challenge`: Sent when a socket opens: the nonce that a device signs.
public struct ConnectChallengeEvent: Codable, Hashable, Sendable {
    public let nonce: String
    public let ts: Int

    public init(
        nonce: String,
        ts: Int
    ) {
        self.nonce = nonce
        self.ts = ts
    }
}

/// `tick`: Still here.
public struct TickEvent: Codable, Hashable, Sendable {
    public let ts: Int

    public init(
        ts: Int
    ) {
        self.ts = ts
    }
}

/// `presence`: Who is connected has changed.
public struct PresenceEvent: Codable, Hashable, Sendable {
    public let presence: [PresenceEntry]

    public init(
        presence: [PresenceEntry]
    ) {
        self.presence = presence
    }
}

/// `health`: The health of the gateway has changed.
public typealias HealthEvent = Health

/// `shutdown`: The gateway is stopping; the socket closes with 1012.
public struct ShutdownEvent: Codable, Hashable, Sendable {
    public let reason: String
    public let restartExpectedMs: Int?

    public init(
        reason: String,
        restartExpectedMs: Int? = nil
    ) {
        self.reason = reason
        self.restartExpectedMs = restartExpectedMs
    }
}

/// `resumed`: Everything after the position of `resume` has been sent. The client is at `to` now: the `prev` of the next event refers to it.
public struct ResumedEvent: Codable, Hashable, Sendable {
    public let epoch: String
    public let from: Int
    public let to: Int

    public init(
        epoch: String,
        from: Int,
        to: Int
    ) {
        self.epoch = epoch
        self.from = from
        self.to = to
    }
}

/// `snapshot-required`: What was missed cannot be replayed: read the state anew, then follow from `seq`.
public struct SnapshotRequiredEvent: Codable, Hashable, Sendable {
    public let reason: SnapshotRequiredEventReason
    public let epoch: String
    public let seq: Int

    public init(
        reason: SnapshotRequiredEventReason,
        epoch: String,
        seq: Int
    ) {
        self.reason = reason
        self.epoch = epoch
        self.seq = seq
    }
}

public enum SnapshotRequiredEventReason: RawRepresentable, Codable, Hashable, Sendable {
    case epochChanged
    case tooOld
    case fromTheFuture
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [SnapshotRequiredEventReason] = [.epochChanged, .tooOld, .fromTheFuture]

    public init(rawValue: String) {
        switch rawValue {
        case "epoch-changed": self = .epochChanged
        case "too-old": self = .tooOld
        case "from-the-future": self = .fromTheFuture
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .epochChanged: return "epoch-changed"
        case .tooOld: return "too-old"
        case .fromTheFuture: return "from-the-future"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `sessions.changed`: A session was created, changed, reset or deleted.
public struct SessionsChangedEvent: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let reason: SessionsChangedEventReason
    public let session: Session?

    public init(
        key: SessionKey,
        reason: SessionsChangedEventReason,
        session: Session? = nil
    ) {
        self.key = key
        self.reason = reason
        self.session = session
    }
}

public enum SessionsChangedEventReason: RawRepresentable, Codable, Hashable, Sendable {
    case create
    case patch
    case reset
    case delete
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [SessionsChangedEventReason] = [.create, .patch, .reset, .delete]

    public init(rawValue: String) {
        switch rawValue {
        case "create": self = .create
        case "patch": self = .patch
        case "reset": self = .reset
        case "delete": self = .delete
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .create: return "create"
        case .patch: return "patch"
        case .reset: return "reset"
        case .delete: return "delete"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `device.pair.requested`: A device asks to be let in.
public typealias DevicePairRequestedEvent = PairingRequest

/// `device.pair.resolved`: A pairing request was answered or has expired.
public struct DevicePairResolvedEvent: Codable, Hashable, Sendable {
    public let requestId: String
    public let deviceId: String
    public let decision: DevicePairResolvedEventDecision

    public init(
        requestId: String,
        deviceId: String,
        decision: DevicePairResolvedEventDecision
    ) {
        self.requestId = requestId
        self.deviceId = deviceId
        self.decision = decision
    }
}

public enum DevicePairResolvedEventDecision: RawRepresentable, Codable, Hashable, Sendable {
    case approved
    case rejected
    case expired
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [DevicePairResolvedEventDecision] = [.approved, .rejected, .expired]

    public init(rawValue: String) {
        switch rawValue {
        case "approved": self = .approved
        case "rejected": self = .rejected
        case "expired": self = .expired
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .approved: return "approved"
        case .rejected: return "rejected"
        case .expired: return "expired"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// Every method, with the types of its params and its result.
public enum GatewayMethods {
    /// Is the gateway well?
    public enum Health: GatewayMethod {
        public typealias Params = HealthParams
        public typealias Result = HealthResult
        public static let name = "health"
    }
    /// What the gateway is and how it does.
    public enum Status: GatewayMethod {
        public typealias Params = StatusParams
        public typealias Result = StatusResult
        public static let name = "status"
    }
    /// Say the text back.
    public enum SystemEcho: GatewayMethod {
        public typealias Params = SystemEchoParams
        public typealias Result = SystemEchoResult
        public static let name = "system.echo"
    }
    /// Who is connected.
    public enum PresenceList: GatewayMethod {
        public typealias Params = PresenceListParams
        public typealias Result = PresenceListResult
        public static let name = "presence.list"
    }
    /// Receive these events on this connection. A connection starts with all that its scopes allow.
    public enum EventsSubscribe: GatewayMethod {
        public typealias Params = EventsSubscribeParams
        public typealias Result = EventsSubscribeResult
        public static let name = "events.subscribe"
    }
    /// Receive these events no longer on this connection.
    public enum EventsUnsubscribe: GatewayMethod {
        public typealias Params = EventsUnsubscribeParams
        public typealias Result = EventsUnsubscribeResult
        public static let name = "events.unsubscribe"
    }
    /// Read the settings with where each comes from. Secrets are redacted.
    public enum ConfigGet: GatewayMethod {
        public typealias Params = ConfigGetParams
        public typealias Result = ConfigGetResult
        public static let name = "config.get"
    }
    /// Change settings in tenon.toml; null returns one to its default. Checked whole before anything is written.
    public enum ConfigPatch: GatewayMethod {
        public typealias Params = ConfigPatchParams
        public typealias Result = ConfigPatchResult
        public static let name = "config.patch"
    }
    /// Read log records after a cursor, oldest first.
    public enum LogsTail: GatewayMethod {
        public typealias Params = LogsTailParams
        public typealias Result = LogsTailResult
        public static let name = "logs.tail"
    }
    /// Read audit records, newest first, with the state of their hash chain.
    public enum AuditList: GatewayMethod {
        public typealias Params = AuditListParams
        public typealias Result = AuditListResult
        public static let name = "audit.list"
    }
    /// Check the installation; with `fix`, mend what can be mended safely.
    public enum DoctorRun: GatewayMethod {
        public typealias Params = DoctorRunParams
        public typealias Result = DoctorRunResult
        public static let name = "doctor.run"
    }
    /// Drain and stop the gateway.
    public enum GatewayShutdown: GatewayMethod {
        public typealias Params = GatewayShutdownParams
        public typealias Result = GatewayShutdownResult
        public static let name = "gateway.shutdown"
    }
    /// List sessions, latest change first, a page at a time; with `search`, newest first.
    public enum SessionsList: GatewayMethod {
        public typealias Params = SessionsListParams
        public typealias Result = SessionsListResult
        public static let name = "sessions.list"
    }
    /// Read one session.
    public enum SessionsGet: GatewayMethod {
        public typealias Params = SessionsGetParams
        public typealias Result = SessionsGetResult
        public static let name = "sessions.get"
    }
    /// Create a session. Without a key, a random one under the agent.
    public enum SessionsCreate: GatewayMethod {
        public typealias Params = SessionsCreateParams
        public typealias Result = SessionsCreateResult
        public static let name = "sessions.create"
    }
    /// Change fields of a session; with `ifRevision`, only if nobody changed it meanwhile.
    public enum SessionsPatch: GatewayMethod {
        public typealias Params = SessionsPatchParams
        public typealias Result = SessionsPatchResult
        public static let name = "sessions.patch"
    }
    /// Start the session afresh: a new session id, the same key and settings.
    public enum SessionsReset: GatewayMethod {
        public typealias Params = SessionsResetParams
        public typealias Result = SessionsResetResult
        public static let name = "sessions.reset"
    }
    /// Delete a session and all that belongs to it.
    public enum SessionsDelete: GatewayMethod {
        public typealias Params = SessionsDeleteParams
        public typealias Result = SessionsDeleteResult
        public static let name = "sessions.delete"
    }
    /// Make a token with at most the scopes of the caller. The secret is in this answer only.
    public enum TokensCreate: GatewayMethod {
        public typealias Params = TokensCreateParams
        public typealias Result = TokensCreateResult
        public static let name = "tokens.create"
    }
    /// Give a token a new secret; sockets that use the old one are closed.
    public enum TokensRotate: GatewayMethod {
        public typealias Params = TokensRotateParams
        public typealias Result = TokensRotateResult
        public static let name = "tokens.rotate"
    }
    /// Revoke a token and close every socket that uses it.
    public enum TokensRevoke: GatewayMethod {
        public typealias Params = TokensRevokeParams
        public typealias Result = TokensRevokeResult
        public static let name = "tokens.revoke"
    }
    /// List tokens, newest first, without their secrets.
    public enum TokensList: GatewayMethod {
        public typealias Params = TokensListParams
        public typealias Result = TokensListResult
        public static let name = "tokens.list"
    }
    /// List the pairing requests that wait for an answer.
    public enum DevicePairList: GatewayMethod {
        public typealias Params = DevicePairListParams
        public typealias Result = DevicePairListResult
        public static let name = "device.pair.list"
    }
    /// Let a device in, with the scopes it asked for or fewer, never more than the caller holds.
    public enum DevicePairApprove: GatewayMethod {
        public typealias Params = DevicePairApproveParams
        public typealias Result = DevicePairApproveResult
        public static let name = "device.pair.approve"
    }
    /// Turn a pairing request down.
    public enum DevicePairReject: GatewayMethod {
        public typealias Params = DevicePairRejectParams
        public typealias Result = DevicePairRejectResult
        public static let name = "device.pair.reject"
    }
    /// List paired devices, latest first.
    public enum DeviceList: GatewayMethod {
        public typealias Params = DeviceListParams
        public typealias Result = DeviceListResult
        public static let name = "device.list"
    }
    /// Change the name of a device.
    public enum DeviceRename: GatewayMethod {
        public typealias Params = DeviceRenameParams
        public typealias Result = DeviceRenameResult
        public static let name = "device.rename"
    }
    /// Revoke a device and close its sockets.
    public enum DeviceRevoke: GatewayMethod {
        public typealias Params = DeviceRevokeParams
        public typealias Result = DeviceRevokeResult
        public static let name = "device.revoke"
    }
}

/// An event with its typed payload; one that is newer than these models is kept whole.
public enum GatewayEvent: Hashable, Sendable {
    case connectChallenge(ConnectChallengeEvent)
    case tick(TickEvent)
    case presence(PresenceEvent)
    case health(HealthEvent)
    case shutdown(ShutdownEvent)
    case resumed(ResumedEvent)
    case snapshotRequired(SnapshotRequiredEvent)
    case sessionsChanged(SessionsChangedEvent)
    case devicePairRequested(DevicePairRequestedEvent)
    case devicePairResolved(DevicePairResolvedEvent)
    case unknown(EventFrame)

    public init(_ frame: EventFrame) throws {
        let payload = frame.payload ?? .null
        switch frame.event {
        case "connect.challenge": self = .connectChallenge(try payload.decode(ConnectChallengeEvent.self))
        case "tick": self = .tick(try payload.decode(TickEvent.self))
        case "presence": self = .presence(try payload.decode(PresenceEvent.self))
        case "health": self = .health(try payload.decode(HealthEvent.self))
        case "shutdown": self = .shutdown(try payload.decode(ShutdownEvent.self))
        case "resumed": self = .resumed(try payload.decode(ResumedEvent.self))
        case "snapshot-required": self = .snapshotRequired(try payload.decode(SnapshotRequiredEvent.self))
        case "sessions.changed": self = .sessionsChanged(try payload.decode(SessionsChangedEvent.self))
        case "device.pair.requested": self = .devicePairRequested(try payload.decode(DevicePairRequestedEvent.self))
        case "device.pair.resolved": self = .devicePairResolved(try payload.decode(DevicePairResolvedEvent.self))
        default: self = .unknown(frame)
        }
    }
}
