// The part of the Swift file that does not depend on any row.

export function swiftRuntime(version: number): string {
  return `// Generated from packages/protocol; do not edit. Run: npm run protocol:gen:swift

import Foundation

public let GATEWAY_PROTOCOL_VERSION = ${version}

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

/// A value that may be null on the wire. Beside \`Optional\`, because a field that is absent and one that is null differ.
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
}`;
}
