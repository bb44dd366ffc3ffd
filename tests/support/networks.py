"""Small neural networks as files."""

import numpy as np


def onnx_file(path, weights, *, name="action", rows=None, kind=np.float32, more_inputs=()):
    """Writes tanh(x @ weights) as an ONNX file; rows: that it takes at once, None for any. Returns its path as text."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = np.asarray(weights, dtype=kind)
    element = TensorProto.FLOAT if kind is np.float32 else TensorProto.DOUBLE
    count = "rows" if rows is None else rows
    inputs = [helper.make_tensor_value_info("observation", element, [count, weights.shape[0]])]
    inputs += [helper.make_tensor_value_info(each, element, [1]) for each in more_inputs]
    outputs = [
        helper.make_tensor_value_info("product", element, [count, weights.shape[1]]),
        helper.make_tensor_value_info(name, element, [count, weights.shape[1]]),
    ]
    nodes = [
        helper.make_node("MatMul", ["observation", "weights"], ["product"]),
        helper.make_node("Tanh", ["product"], [name]),
    ]
    graph = helper.make_graph(nodes, "network", inputs, outputs, [numpy_helper.from_array(weights, "weights")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))
    return str(path)
