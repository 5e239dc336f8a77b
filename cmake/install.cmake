# Where an installed Ullage keeps its parts: the program finds the others at ../lib/ullage. The default prefix layout is that
# of the Python wheel's package folder: bin/ and lib/ side by side.
if(TARGET ullage)
  install(TARGETS ullage RUNTIME DESTINATION bin COMPONENT program)
endif()
install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/ullage/cuda13/ DESTINATION lib/ullage/cuda13 COMPONENT standins
        USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.so*")
install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/ullage/files/ DESTINATION lib/ullage/files COMPONENT standins
        USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.so")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/ullage/site/ DESTINATION lib/ullage/site COMPONENT hook
        FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
