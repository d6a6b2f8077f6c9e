"""Kubernetes: the facts that the compiler needs, each in one module. Nothing here knows a spec or Volcano's Job.

Question                                                              Module
What is text as a name, a label, a path, an address?                  names
How much is 500m or 2Gi, and how does Kubernetes write it?            quantity
How long is 1h30m?                                                    duration
What does an image reference name, and which images has a manifest?   image
What does a pod request of its node, and what is a device?            resources
Which kinds have no namespace, refer to others, or fixed fields?      objectkinds
How do parts of a pod merge?                                          merge
How is a failed keyword of a JSON Schema told?                        schemawords
Where is a JSON Schema, and how does Kubernetes write a given part?   schemafile
What does the API server store of a value?                            shape (asks limits for what a type cannot say)
Would Kubernetes admit a pod template?                                pod (asks containers and resources)
Would it admit a Service, a Deployment and so on?                     furtherobjects (asks quota)
What does it add to such an object, and how does Go write a value?    complete, goform
How does a broken rule look?                                          fault
"""
